#include "daemon/capture/pcapng_file.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "daemon/capture/pcapng_format.h"

namespace ibemu::daemon {
namespace {

using Bytes = std::vector<std::byte>;

constexpr size_t kUnit = 4;  // bytes: what all lengths are rounded up to

void Pad(Bytes& bytes) {
  while (bytes.size() % kUnit != 0) bytes.push_back(std::byte{0});
}

void AddOption(uint16_t code, std::span<const std::byte> value, Bytes& body) {
  wire::Append(
      PcapngOption{.code = code, .length = static_cast<uint16_t>(value.size())},
      body);
  body.insert(body.end(), value.begin(), value.end());
  Pad(body);
}

void AddOption(uint16_t code, std::string_view text, Bytes& body) {
  if (text.empty()) return;
  AddOption(code, std::as_bytes(std::span(text)), body);
}

void EndOptions(Bytes& body) { wire::Append(PcapngOption{}, body); }

void AddBlock(uint32_t type, const Bytes& body, Bytes& file) {
  const auto length = static_cast<uint32_t>(
      wire::kBytes<PcapngBlock> + body.size() + wire::kBytes<PcapngBlockEnd>);
  wire::Append(PcapngBlock{.type = type, .length = length}, file);
  file.insert(file.end(), body.begin(), body.end());
  wire::Append(PcapngBlockEnd{.length = length}, file);
}

}  // namespace

void PcapngFile::Begin(Bytes& file) {
  Bytes body;
  wire::Append(PcapngSection{}, body);
  AddOption(PcapngOption::kComment, about_, body);
  AddOption(PcapngOption::kUserApplication, "ibemu", body);
  EndOptions(body);
  AddBlock(PcapngBlock::kSection, body, file);
}

void PcapngFile::Port(uint32_t id, std::string_view name, std::string_view peer,
                      Bytes& file) {
  const auto [place, is_new] =
      interfaces_.try_emplace(id, static_cast<uint32_t>(interfaces_.size()));
  interface_ = place->second;
  if (!is_new) return;
  constexpr std::array kNanoseconds = {std::byte{9}};  // 10^-9 s
  Bytes body;
  wire::Append(PcapngInterface{}, body);
  AddOption(PcapngOption::kInterfaceName, name, body);
  AddOption(PcapngOption::kInterfaceDescription,
            peer.empty() ? "" : absl::StrCat("cable to ", Absl(peer)), body);
  AddOption(PcapngOption::kResolution, kNanoseconds, body);
  EndOptions(body);
  AddBlock(PcapngBlock::kInterface, body, file);
}

void PcapngFile::Packet(const ErfHeader& header,
                        std::span<const std::byte> record, Bytes& file) {
  const uint64_t time = header.timestamp();
  constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;
  const uint64_t nanoseconds =
      (time >> 32) * kNanosecondsPerSecond +
      ((time & 0xffffffff) * kNanosecondsPerSecond >> 32);
  Bytes body;
  wire::Append(
      PcapngPacket{
          .interface_id = interface_,
          .time_high = static_cast<uint32_t>(nanoseconds >> 32),
          .time_low = static_cast<uint32_t>(nanoseconds),
          .captured = header.record_length,
          .original = uint32_t{wire::kBytes<ErfHeader>} + header.wire_length},
      body);
  body.insert(body.end(), record.begin(), record.end());
  Pad(body);
  const bool has_direction = header.direction != ErfHeader::Direction::kUnknown;
  if (has_direction) {
    const std::array flags = {std::byte{0}, std::byte{0}, std::byte{0},
                              static_cast<std::byte>(header.direction)};
    AddOption(PcapngOption::kPacketFlags, flags, body);
  }
  if (header.lost != 0) {
    AddOption(PcapngOption::kComment,
              absl::StrCat(header.lost,
                           " packets before this one were not captured: they "
                           "came faster than they were written"),
              body);
  }
  if (has_direction || header.lost != 0) EndOptions(body);
  AddBlock(PcapngBlock::kPacket, body, file);
}

}  // namespace ibemu::daemon
