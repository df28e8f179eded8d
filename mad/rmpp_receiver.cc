#include "mad/rmpp_receiver.h"

#include <algorithm>
#include <cstring>

#include "base/large_buffer.h"

namespace ibemu::mad {
namespace {

// The length that the first segment announces is believed up to this multiple
// of what has arrived without a gap: memory is for messages, not for promises.
constexpr size_t kTrust = 8;

// Once this much of a message has arrived, up to kMaxOnProof is believed,
// because copying into larger buffers would begin to cost time.  Bytes that are
// not used yet take up address space but no memory.
constexpr size_t kProof = size_t{1} << 20;
constexpr size_t kMaxOnProof = size_t{256} << 20;

}  // namespace

std::optional<RmppStatus> RmppReceiver::Check(const RmppHeader& data) {
  if (data.version != 1) return RmppStatus::kUnsupportedVersion;
  if (data.status != RmppStatus::kNormal) return RmppStatus::kIllegalStatus;
  if (data.first != (data.segment == 1)) {
    return RmppStatus::kInconsistentFirst;
  }
  return std::nullopt;
}

RmppReceiver::Outcome RmppReceiver::OnData(const RmppHeader& data, Bytes mad) {
  if (data.segment > window_last_) return {};
  if (complete_ || data.segment <= acknowledged_) return Ack();
  if (data.segment <= received_) return {};
  const uint64_t bit = uint64_t{1} << (data.segment - received_ - 1);
  if ((held_ & bit) != 0) return {};

  Keep(data, mad);
  held_ |= bit;
  while ((held_ & 1) != 0) {
    held_ >>= 1;
    if (++received_ == last_) {
      complete_ = true;
      Trim();
      Outcome done = Ack();
      done.complete = true;
      return done;
    }
  }
  if (received_ != window_last_) return {};
  window_last_ += kWindow;
  return Ack();
}

RmppReceiver::Outcome RmppReceiver::Ack() {
  acknowledged_ = received_;
  return {.reply = RmppHeader{.type = RmppType::kAck,
                              .segment = received_,
                              .length_or_window = window_last_}};
}

void RmppReceiver::Keep(const RmppHeader& data, Bytes mad) {
  if (data.last && (last_ == 0 || data.segment < last_)) {
    last_ = data.segment;
    last_length_ = data.length_or_window;
  }
  const size_t each = kMadBytes - header_bytes_;
  if (data.segment == 1) {
    announced_ =
        header_bytes_ + (data.length_or_window / kRmppPayload + 1) * each;
    message_.assign(mad.begin(), mad.end());
    return;
  }
  const Bytes payload = mad.subspan(header_bytes_, each);
  const size_t offset = header_bytes_ + (data.segment - 1) * each;
  const size_t end = offset + each;
  if (end > message_.capacity()) {
    const size_t arrived = header_bytes_ + received_ * each;
    const size_t trusted = arrived < kProof ? kTrust * arrived : kMaxOnProof;
    const size_t wanted =
        announced_ < end ? 2 * arrived
                         : std::min(announced_, std::max(2 * arrived, trusted));
    ReserveLarge(message_, std::max(end, wanted));
  }
  if (offset == message_.size()) {
    message_.insert(message_.end(), payload.begin(), payload.end());
    return;
  }
  if (end > message_.size()) message_.resize(end);
  std::memcpy(message_.data() + offset, payload.data(), each);
}

void RmppReceiver::Trim() {
  const uint32_t pad =
      last_length_ > kRmppPayload ? 0 : kRmppPayload - last_length_;
  message_.resize(header_bytes_ + received_ * (kMadBytes - header_bytes_) -
                  pad);
}

}  // namespace ibemu::mad
