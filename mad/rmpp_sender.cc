#include "mad/rmpp_sender.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ibemu::mad {
namespace {

uint32_t CountSegments(size_t message_bytes, size_t header_bytes) {
  const size_t each = kMadBytes - header_bytes;
  const size_t data = message_bytes - header_bytes;
  return std::max<uint32_t>(1, static_cast<uint32_t>((data + each - 1) / each));
}

}  // namespace

RmppSender::RmppSender(std::vector<std::byte> message, size_t header_bytes,
                       uint32_t window, int retries)
    : message_(std::move(message)),
      header_bytes_(header_bytes),
      segments_(CountSegments(message_.size(), header_bytes)),
      window_last_(window),
      retries_(retries),
      retries_left_(retries) {}

bool RmppSender::NextSegment(MadBytes& segment) {
  if (!ready()) return false;
  ++sent_;

  const size_t each = kMadBytes - header_bytes_;
  const size_t begin = header_bytes_ + (sent_ - 1) * each;
  const size_t bytes = std::min(each, message_.size() - begin);
  std::memcpy(segment.data(), message_.data(), header_bytes_);
  std::memcpy(segment.data() + header_bytes_, message_.data() + begin, bytes);
  std::fill(segment.begin() + header_bytes_ + bytes, segment.end(),
            std::byte{0});
  wire::Encode(RmppHeader{.type = RmppType::kData,
                          .resp_time = 0,
                          .last = sent_ == segments_,
                          .first = sent_ == 1,
                          .segment = sent_,
                          .length_or_window = PayloadLength(sent_)},
               std::span(segment).subspan(kRmppHeaderOffset));
  return true;
}

// Returns the segment's PayloadLength.  The first segment announces the length
// of the whole message, the last one that of its own part, and those between
// nothing.
uint32_t RmppSender::PayloadLength(uint32_t segment) const {
  const size_t each = kMadBytes - header_bytes_;
  const auto pad =
      static_cast<uint32_t>(header_bytes_ + segments_ * each - message_.size());
  if (segment == segments_) return kRmppPayload - pad;
  if (segment == 1) return segments_ * kRmppPayload - pad;
  return 0;
}

std::optional<RmppStatus> RmppSender::Check(const RmppHeader& control) {
  if (control.version != 1) return RmppStatus::kUnsupportedVersion;
  switch (control.type) {
    case RmppType::kAck:
      if (control.status != RmppStatus::kNormal) {
        return RmppStatus::kIllegalStatus;
      }
      if (control.length_or_window < control.segment) {
        return RmppStatus::kNewWindowTooSmall;
      }
      return std::nullopt;
    case RmppType::kStop:
      if (control.status != RmppStatus::kResourcesExhausted) {
        return RmppStatus::kIllegalStatus;
      }
      return std::nullopt;
    case RmppType::kAbort:
      if (control.status < RmppStatus::kTotalTimeTooLong ||
          control.status > RmppStatus::kUnspecified) {
        return RmppStatus::kIllegalStatus;
      }
      return std::nullopt;
    default:
      return RmppStatus::kBadType;
  }
}

RmppSender::Step RmppSender::OnAck(uint32_t segment, uint32_t new_window_last) {
  if (all_acknowledged()) return Step::kRepeatedAck;
  if (segment > segments_ || segment > window_last_) {
    return Step::kSegmentTooBig;
  }
  if (new_window_last < window_last_ || segment < acknowledged_) {
    return Step::kIgnore;  // an old ACK, overtaken on the way
  }
  const bool more = segment > acknowledged_ || new_window_last > window_last_;
  if (segment > acknowledged_) {
    acknowledged_ = segment;
    sent_ = std::max(sent_, segment);  // after a timeout it may be behind
    retries_left_ = retries_;
  }
  window_last_ = new_window_last;
  if (all_acknowledged()) return Step::kAllAcknowledged;
  return more ? Step::kProgress : Step::kIgnore;
}

bool RmppSender::OnTimeout() {
  if (all_acknowledged() || retries_left_ <= 0) return false;
  --retries_left_;
  sent_ = acknowledged_;
  return true;
}

}  // namespace ibemu::mad
