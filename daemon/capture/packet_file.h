// PacketFile: the interface of the formats that captures are written in.
#ifndef IBEMU_DAEMON_CAPTURE_PACKET_FILE_H_
#define IBEMU_DAEMON_CAPTURE_PACKET_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/capture/capture_format.h"

namespace ibemu::daemon {

// A PacketFile writes one file of packets in its format: each function appends
// to `file`.
class PacketFile {
 public:
  virtual ~PacketFile() = default;

  // How the file begins.  Before all else.
  virtual void Begin(std::vector<std::byte>& file) = 0;

  // The packets that follow leave through this port.  `name`: "sw1/3", empty if
  // it was told before; `peer`: where its cable leads.
  virtual void Port(uint32_t id, std::string_view name, std::string_view peer,
                    std::vector<std::byte>& file) = 0;

  // A packet; `record`: all of it, with its header.
  virtual void Packet(const ErfHeader& header,
                      std::span<const std::byte> record,
                      std::vector<std::byte>& file) = 0;
};

enum class PacketFileFormat { kPcap, kPcapng };

// "pcap" or "pcapng"; empty: as the name of the file ends.
//
// Errors: InvalidArgument.
absl::StatusOr<PacketFileFormat> ParsePacketFileFormat(std::string_view text,
                                                       std::string_view file);

// `about`: what the file says of itself, if it can.
std::unique_ptr<PacketFile> MakePacketFile(PacketFileFormat format,
                                           std::string about);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_PACKET_FILE_H_
