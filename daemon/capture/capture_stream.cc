#include "daemon/capture/capture_stream.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace ibemu::daemon {
namespace {

uint64_t ErfTime(absl::Time time) {
  constexpr uint64_t kNanoseconds = 1'000'000'000;
  const auto nanoseconds = static_cast<uint64_t>(absl::ToUnixNanos(time));
  return nanoseconds / kNanoseconds << 32 |
         (nanoseconds % kNanoseconds << 32) / kNanoseconds;
}

void AppendTo(std::vector<std::byte>& buffer,
              std::span<const std::byte> bytes) {
  buffer.insert(buffer.end(), bytes.begin(), bytes.end());
}

}  // namespace

CaptureStream::CaptureStream(Loop& loop, UniqueFd socket, Options options)
    : loop_(loop), stream_(loop, std::move(socket)), options_(options) {}

absl::Status CaptureStream::Start(std::function<void()> ended) {
  ended_ = std::move(ended);
  return stream_.Start([this] { Finish(); }, [this] { ended_(); });
}

bool CaptureStream::HasRoom() {
  if (!stream_.full()) return true;
  ++lost_;
  return false;
}

void CaptureStream::Send(uint32_t port, absl::FunctionRef<PortNames()> names,
                         ErfHeader::Direction direction,
                         std::span<const std::byte> packet) {
  if (options_.tell_ports) TellPort(port, names);
  AddHeader(ErfHeader::kInfiniband, direction, packet.size());
  AppendTo(stream_.buffer(), packet);
  stream_.Send();
}

// Appends a kPort record if `port` is not that of the packet before.
void CaptureStream::TellPort(uint32_t port,
                             absl::FunctionRef<PortNames()> names) {
  if (std::exchange(last_port_, port) == port) return;
  std::string text;
  if (named_ports_.insert(port).second) {
    const PortNames its = names();
    text = its.own + '\0' + its.peer;
  }
  AddHeader(ErfHeader::kPort, ErfHeader::Direction::kUnknown,
            sizeof(port) + text.size());
  std::vector<std::byte>& buffer = stream_.buffer();
  for (int shift = 24; shift >= 0; shift -= 8) {
    buffer.push_back(static_cast<std::byte>(port >> shift));
  }
  AppendTo(buffer, std::as_bytes(std::span(text)));
}

void CaptureStream::AddHeader(uint8_t type, ErfHeader::Direction direction,
                              size_t packet_length) {
  constexpr size_t kBytes = wire::kBytes<ErfHeader>;
  const auto lost = static_cast<uint16_t>(
      std::min<uint64_t>(lost_, std::numeric_limits<uint16_t>::max()));
  lost_ -= lost;
  const ErfHeader header{
      .swapped_timestamp =
          __builtin_bswap64(ErfTime(loop_.Now() + options_.wall_clock)),
      .type = type,
      .direction = direction,
      .record_length = static_cast<uint16_t>(kBytes + packet_length),
      .lost = lost,
      .wire_length = static_cast<uint16_t>(packet_length)};
  wire::Append(header, stream_.buffer());
}

void CaptureStream::Finish() {
  ended_();
  do {
    AddHeader(ErfHeader::kPad, ErfHeader::Direction::kUnknown, 0);
  } while (lost_ != 0);
  stream_.Finish();
}

}  // namespace ibemu::daemon
