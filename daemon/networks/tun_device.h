// TunDevice: a network device of a kernel, whose packets a descriptor gives and
// takes.
#ifndef IBEMU_DAEMON_NETWORKS_TUN_DEVICE_H_
#define IBEMU_DAEMON_NETWORKS_TUN_DEVICE_H_

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::daemon {

// A TunDevice is an open /dev/net/tun with its device.  Nothing here waits,
// whatever a client does to the descriptor, of which it may have a copy.
class TunDevice {
 public:
  static constexpr size_t kLongestPacket = 65535;

  // Of what the packets of a device are.
  enum class Kind { kIp, kEthernet };

  // Takes over what came from a client.
  //
  // Errors: InvalidArgument unless it is /dev/net/tun with a device of that
  // kind, without headers before its packets, whose name has letters, digits,
  // dots, hyphens and underscores.
  static absl::StatusOr<TunDevice> Adopt(UniqueFd fd, Kind kind);

  // Takes over a descriptor that Adopt() would take, or a socket of packets.
  TunDevice(UniqueFd fd, std::string name)
      : fd_(std::move(fd)), name_(std::move(name)) {}

  // Gives the descriptor up.
  UniqueFd Release() { return std::move(fd_); }

  int fd() const { return fd_.get(); }
  const std::string& name() const { return name_; }

  // Reads a packet to `buffer` and returns its bytes; none if no packet waits.
  // A packet that is longer than the buffer is cut off.
  //
  // Errors: Unavailable, the device is gone.
  absl::StatusOr<std::span<const std::byte>> Read(std::span<std::byte> buffer);

  // Hands the kernel a packet, or loses it: if it is none, or the device is
  // down.
  void Write(std::span<const std::byte> packet);

  // Says whether there is a link.
  void SetCarrier(bool carrier);

 private:
  UniqueFd fd_;
  std::string name_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_NETWORKS_TUN_DEVICE_H_
