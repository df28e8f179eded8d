#include "daemon/capture/pcap_file.h"

namespace ibemu::daemon {

void PcapFile::Begin(std::vector<std::byte>& file) {
  wire::Append(PcapFileHeader{}, file);
}

void PcapFile::Port(uint32_t /*id*/, std::string_view /*name*/,
                    std::string_view /*peer*/,
                    std::vector<std::byte>& /*file*/) {}

void PcapFile::Packet(const ErfHeader& header,
                      std::span<const std::byte> record,
                      std::vector<std::byte>& file) {
  const uint64_t time = header.timestamp();
  constexpr uint64_t kNanoseconds = 1'000'000'000;
  wire::Append(PcapPacketHeader{.seconds = static_cast<uint32_t>(time >> 32),
                                .nanoseconds = static_cast<uint32_t>(
                                    (time & 0xffffffff) * kNanoseconds >> 32),
                                .captured = header.record_length,
                                .original = uint32_t{wire::kBytes<ErfHeader>} +
                                            header.wire_length},
               file);
  file.insert(file.end(), record.begin(), record.end());
}

}  // namespace ibemu::daemon
