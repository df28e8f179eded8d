// HostNetwork: a network device of a run, and what carries its packets.
#ifndef IBEMU_DAEMON_NETWORKS_HOST_NETWORK_H_
#define IBEMU_DAEMON_NETWORKS_HOST_NETWORK_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "daemon/connections/host_connections.h"
#include "daemon/networks/tun_device.h"
#include "ipoib/carrier.h"
#include "loop/loop.h"
#include "mad/host.h"

namespace ibemu::daemon {

// A HostNetwork carries packets between a TUN or TAP device and a port of a
// host, until the device or the adapter is gone.
class HostNetwork final : private ipoib::Carrier::Device {
 public:
  // The packets that are read in one turn of the loop.
  static constexpr int kBurst = 64;

  // Makes what carries the packets, on what `connections` has.
  using MakeCarrier = absl::FunctionRef<std::unique_ptr<ipoib::Carrier>(
      HostConnections& connections, ipoib::Carrier::Device& device)>;

  // `loop` must outlive this.
  HostNetwork(Loop& loop, std::shared_ptr<HostConnections> connections,
              int port, TunDevice tun, MakeCarrier make);
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

  // What carries the packets.  REQUIRES: !ended()
  const ipoib::Carrier& carrier() const { return *carrier_; }
  bool ended() const { return carrier_ == nullptr; }

  // Whether it is about to come up: the port is active, and the groups are not
  // joined yet.
  bool waits() const;

 private:
  absl::Status Watch();
  void OnReadable();
  void OnHostChange();
  void End();
  void CloseDevice();

  // ipoib::Carrier::Device
  void Receive(std::span<const std::byte> packet) override;
  void OnLinkChange() override;
  void OnRoom() override;

  Loop& loop_;
  const int port_;
  const std::string name_;
  std::shared_ptr<HostConnections> connections_;
  std::optional<TunDevice> tun_;
  std::unique_ptr<mad::Host::Subscription> changes_;
  absl::AnyInvocable<void()> ended_;
  bool paused_ = false;  // the device is not looked at: nothing can be sent
  std::vector<std::byte> buffer_;
  std::unique_ptr<ipoib::Carrier> carrier_;  // null: it has ended
  // Expires with this: for tasks.
  const std::shared_ptr<HostNetwork*> self_ =
      std::make_shared<HostNetwork*>(this);
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_NETWORKS_HOST_NETWORK_H_
