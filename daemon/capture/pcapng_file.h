// pcapng, draft-ietf-opsawg-pcapng: each port is an interface with a name, and
// packets have comments.
#ifndef IBEMU_DAEMON_CAPTURE_PCAPNG_FILE_H_
#define IBEMU_DAEMON_CAPTURE_PCAPNG_FILE_H_

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "daemon/capture/packet_file.h"

namespace ibemu::daemon {

// A PcapngFile is one section.  Its interfaces are numbered in the order in
// which their ports were first told.
class PcapngFile : public PacketFile {
 public:
  // `about`: the section's comment.
  explicit PcapngFile(std::string about) : about_(std::move(about)) {}

  void Begin(std::vector<std::byte>& file) override;
  void Port(uint32_t id, std::string_view name, std::string_view peer,
            std::vector<std::byte>& file) override;
  void Packet(const ErfHeader& header, std::span<const std::byte> record,
              std::vector<std::byte>& file) override;

 private:
  const std::string about_;
  absl::flat_hash_map<uint32_t, uint32_t> interfaces_;  // of ports, by id
  uint32_t interface_ = 0;                              // of what follows
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_PCAPNG_FILE_H_
