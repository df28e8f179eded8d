// HostNetwork: an interface of a host as a network device of a run.
#ifndef IBEMU_DAEMON_NETWORKS_HOST_NETWORK_H_
#define IBEMU_DAEMON_NETWORKS_HOST_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "daemon/connections/host_connections.h"
#include "daemon/networks/tun_device.h"
#include "ipoib/link.h"
#include "ipoib/netdev/packet_path.h"
#include "loop/loop.h"
#include "mad/host.h"

namespace ibemu::daemon {

// A HostNetwork carries packets between a TUN device and an IPoIB interface of
// a port, until the device or the adapter is gone.
class HostNetwork final : private ipoib::PacketPath::Device {
 public:
  // The packets that are read in one turn of the loop.
  static constexpr int kBurst = 64;

  // `loop` must outlive this; the port must have an interface in the partition
  // (HostConnections::link()).
  HostNetwork(Loop& loop, std::shared_ptr<HostConnections> connections,
              int port, uint16_t partition, TunDevice tun);
  ~HostNetwork();
  HostNetwork(const HostNetwork&) = delete;
  HostNetwork& operator=(const HostNetwork&) = delete;

  // Begins.  `ended` is called once, when the device or the adapter has gone;
  // it may destroy this.
  //
  // Errors: the loop's.
  absl::Status Start(absl::AnyInvocable<void()> ended);

  const std::string& name() const { return name_; }
  int port() const { return port_; }

  // While it has not ended: what carries the packets, and what it has counted.
  // REQUIRES: !ended()
  const ipoib::Link& link() const { return *link_; }
  const ipoib::PacketPath::Counters& counters() const {
    return path_->counters();
  }
  bool ended() const { return !path_; }

  // Whether the port is about to come up: it is active, and the groups are not
  // joined yet.
  bool waits() const;

 private:
  absl::Status Watch();
  void OnReadable();
  void OnHostChange();
  void End();
  void CloseDevice();

  // ipoib::PacketPath::Device
  void Receive(std::span<const std::byte> packet) override;
  void OnLinkChange() override;
  void OnRoom() override;

  Loop& loop_;
  const int port_;
  const std::string name_;
  std::shared_ptr<HostConnections> connections_;
  ipoib::Link* const link_;
  std::optional<TunDevice> tun_;
  std::unique_ptr<mad::Host::Subscription> changes_;
  absl::AnyInvocable<void()> ended_;
  bool paused_ = false;  // the device is not looked at: nothing can be sent
  std::vector<std::byte> buffer_;
  std::optional<ipoib::PacketPath> path_;
  // Expires with this: for tasks.
  const std::shared_ptr<HostNetwork*> self_ =
      std::make_shared<HostNetwork*>(this);
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_NETWORKS_HOST_NETWORK_H_
