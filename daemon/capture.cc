#include "daemon/capture.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <span>
#include <utility>

#include "base/status_macros.h"
#include "daemon/capture_format.h"
#include "fabric/packet_bytes.h"

namespace ibemu::daemon {
namespace {

using fabric::PortId;

// So much is sent at once, without waiting for the end of a turn.
constexpr size_t kEnough = size_t{128} << 10;

uint64_t ErfTime(absl::Time time) {
  constexpr uint64_t kNanoseconds = 1'000'000'000;
  const auto nanoseconds = static_cast<uint64_t>(absl::ToUnixNanos(time));
  return nanoseconds / kNanoseconds << 32 |
         (nanoseconds % kNanoseconds << 32) / kNanoseconds;
}

}  // namespace

Capture::Capture(Loop& loop, fabric::Fabric& fabric, UniqueFd socket,
                 absl::flat_hash_set<PortId> ports, absl::Duration wall_clock)
    : loop_(loop),
      fabric_(fabric),
      socket_(std::move(socket)),
      ports_(std::move(ports)),
      wall_clock_(wall_clock) {}

Capture::~Capture() { End(); }

absl::Status Capture::Start() {
  IBEMU_RETURN_IF_ERROR(Wait());
  fabric_.AddTap(*this);
  listening_ = true;
  return absl::OkStatus();
}

void Capture::OnCrossing(PortId from, PortId to, uint8_t vl,
                         const fabric::Packet& packet) {
  if (!ports_.empty() && !ports_.contains(from) && !ports_.contains(to)) return;
  if (buffer_.size() - sent_ > kMostBuffered) {
    ++lost_;
    return;
  }
  const std::vector<std::byte> bytes = fabric::BytesOf(packet, vl);
  AddHeader(ErfHeader::kInfiniband, bytes.size());
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  if (waits_for_room_) return;
  if (buffer_.size() > kEnough) {
    Flush();
  } else {
    FlushSoon();
  }
}

void Capture::AddHeader(uint8_t type, size_t packet_length) {
  constexpr size_t kBytes = wire::kBytes<ErfHeader>;
  const auto lost = static_cast<uint16_t>(
      std::min<uint64_t>(lost_, std::numeric_limits<uint16_t>::max()));
  lost_ -= lost;
  const ErfHeader header{
      .swapped_timestamp =
          __builtin_bswap64(ErfTime(loop_.Now() + wall_clock_)),
      .type = type,
      .record_length = static_cast<uint16_t>(kBytes + packet_length),
      .lost = lost,
      .wire_length = static_cast<uint16_t>(packet_length)};
  wire::Append(header, buffer_);
}

void Capture::FlushSoon() {
  if (scheduled_) return;
  scheduled_ = true;
  loop_.RunSoon([weak = weak_from_this()] {
    const std::shared_ptr<Capture> self = weak.lock();
    if (self == nullptr) return;
    self->scheduled_ = false;
    self->Flush();
  });
}

void Capture::Flush() {
  while (sent_ < buffer_.size()) {
    const ssize_t sent =
        send(socket_.get(), buffer_.data() + sent_, buffer_.size() - sent_,
             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      if (!WaitForRoom().ok()) End();
      return;
    }
    if (sent < 0) return End();
    sent_ += static_cast<size_t>(sent);
  }
  buffer_.clear();
  sent_ = 0;
  if (finishing_ || !Wait().ok()) End();
}

absl::Status Capture::WaitForRoom() {
  // Seldom: what stays is moved.
  if (sent_ > buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(sent_));
    sent_ = 0;
  }
  if (waits_for_room_) return absl::OkStatus();
  waits_for_room_ = true;
  loop_.Forget(socket_.get());
  return loop_.WatchWritable(socket_.get(), [this] { Flush(); });
}

// For the reader to say that it has enough, or to go.
absl::Status Capture::Wait() {
  if (listening_ && !waits_for_room_) return absl::OkStatus();
  waits_for_room_ = false;
  loop_.Forget(socket_.get());
  return loop_.Watch(socket_.get(), [this] { OnReadable(); });
}

void Capture::OnReadable() {
  std::array<char, 64> ignored;
  const ssize_t size =
      recv(socket_.get(), ignored.data(), ignored.size(), MSG_DONTWAIT);
  if (size == 0) return Finish();
  if (size < 0 && errno != EAGAIN && errno != EINTR) End();
}

void Capture::Finish() {
  StopListening();
  loop_.Forget(socket_.get());
  do {
    AddHeader(ErfHeader::kPad, 0);
  } while (lost_ != 0);
  finishing_ = true;
  Flush();
}

void Capture::StopListening() {
  if (std::exchange(listening_, false)) fabric_.RemoveTap(*this);
}

void Capture::End() {
  StopListening();
  if (!socket_.valid()) return;
  loop_.Forget(socket_.get());
  socket_.Reset();
  buffer_ = {};
  sent_ = 0;
}

}  // namespace ibemu::daemon
