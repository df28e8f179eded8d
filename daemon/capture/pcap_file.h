// pcap, draft-ietf-opsawg-pcap: packets, and nothing about them.
#ifndef IBEMU_DAEMON_CAPTURE_PCAP_FILE_H_
#define IBEMU_DAEMON_CAPTURE_PCAP_FILE_H_

#include "daemon/capture/packet_file.h"

namespace ibemu::daemon {

// A PcapFile has no place for the names of ports: Port() writes nothing.
class PcapFile : public PacketFile {
 public:
  void Begin(std::vector<std::byte>& file) override;
  void Port(uint32_t id, std::string_view name, std::string_view peer,
            std::vector<std::byte>& file) override;
  void Packet(const ErfHeader& header, std::span<const std::byte> record,
              std::vector<std::byte>& file) override;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_PCAP_FILE_H_
