#include "daemon/capture.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "daemon/capture_format.h"
#include "fabric/packet_bytes.h"

namespace ibemu::daemon {
namespace {

using fabric::PortId;

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
      stream_(loop, std::move(socket)),
      ports_(std::move(ports)),
      wall_clock_(wall_clock) {}

Capture::~Capture() { StopListening(); }

absl::Status Capture::Start() {
  IBEMU_RETURN_IF_ERROR(
      stream_.Start([this] { Finish(); }, [this] { StopListening(); }));
  fabric_.AddTap(*this);
  listening_ = true;
  return absl::OkStatus();
}

void Capture::OnCrossing(PortId from, PortId to, uint8_t vl,
                         const fabric::Packet& packet) {
  if (!ports_.empty() && !ports_.contains(from) && !ports_.contains(to)) return;
  if (stream_.full()) {
    ++lost_;
    return;
  }
  const std::vector<std::byte> bytes = fabric::BytesOf(packet, vl);
  AddHeader(ErfHeader::kInfiniband, bytes.size());
  stream_.buffer().insert(stream_.buffer().end(), bytes.begin(), bytes.end());
  stream_.Send();
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
  wire::Append(header, stream_.buffer());
}

void Capture::Finish() {
  StopListening();
  do {
    AddHeader(ErfHeader::kPad, 0);
  } while (lost_ != 0);
  stream_.Finish();
}

void Capture::StopListening() {
  if (std::exchange(listening_, false)) fabric_.RemoveTap(*this);
}

}  // namespace ibemu::daemon
