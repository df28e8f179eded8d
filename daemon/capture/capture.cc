#include "daemon/capture/capture.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "daemon/capture/capture_format.h"
#include "fabric/packet/packet_bytes.h"
#include "fabric/subnet/subnet.h"

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
                 Options options)
    : loop_(loop),
      fabric_(fabric),
      stream_(loop, std::move(socket)),
      options_(std::move(options)) {}

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
  const auto& ports = options_.ports;
  if (!ports.empty() && !ports.contains(from) && !ports.contains(to)) return;
  if (stream_.full()) {
    ++lost_;
    return;
  }
  if (options_.tell_ports) TellPort(from, to);
  const std::vector<std::byte> bytes = fabric::BytesOf(packet, vl);
  AddHeader(ErfHeader::kInfiniband, bytes.size());
  stream_.buffer().insert(stream_.buffer().end(), bytes.begin(), bytes.end());
  stream_.Send();
}

void Capture::TellPort(PortId port, PortId peer) {
  if (std::exchange(last_port_, port) == port) return;
  std::string names;
  if (named_ports_.insert(port).second) {
    const fabric::Subnet& subnet = std::as_const(fabric_).subnet();
    const auto name = [&](PortId id) {
      return absl::StrCat(subnet.NodeOf(id).description, "/",
                          subnet.port(id).number);
    };
    names = name(port) + '\0' + name(peer);
  }
  const auto id = static_cast<uint32_t>(port);
  AddHeader(ErfHeader::kPort, sizeof(id) + names.size());
  std::vector<std::byte>& buffer = stream_.buffer();
  for (int shift = 24; shift >= 0; shift -= 8) {
    buffer.push_back(static_cast<std::byte>(id >> shift));
  }
  const auto text = std::as_bytes(std::span(names));
  buffer.insert(buffer.end(), text.begin(), text.end());
}

void Capture::AddHeader(uint8_t type, size_t packet_length) {
  constexpr size_t kBytes = wire::kBytes<ErfHeader>;
  const auto lost = static_cast<uint16_t>(
      std::min<uint64_t>(lost_, std::numeric_limits<uint16_t>::max()));
  lost_ -= lost;
  const ErfHeader header{
      .swapped_timestamp =
          __builtin_bswap64(ErfTime(loop_.Now() + options_.wall_clock)),
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
