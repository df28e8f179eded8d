// SwitchPort: a port of a host on a virtual switch of Ethernet.
#ifndef IBEMU_IPOIB_ETHERNET_SWITCH_PORT_H_
#define IBEMU_IPOIB_ETHERNET_SWITCH_PORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/deferred_call.h"
#include "base/timers.h"
#include "ipoib/carrier.h"
#include "ipoib/datagram_queue.h"
#include "ipoib/ethernet/station_table.h"
#include "ipoib/steady_membership.h"
#include "ipoib/wire/ethernet_header.h"
#include "mad/host.h"
#include "mad/sa/multicast_members.h"
#include "verbs/provider.h"
#include "wire/types.h"

namespace ibemu::ipoib {

// A SwitchPort sends the frames that a kernel gives it, each as a datagram, and
// hands it those that arrive, as long as the port is active and a member of the
// switch's group.  Both sides may hand it anything: what is no frame, or is too
// long, is dropped.
class SwitchPort final : public Carrier,
                         private verbs::AsyncEventListener,
                         private DatagramQueue::Listener {
 public:
  // The most bytes of a frame, and of a packet in it: a VLAN's tag has room.
  static constexpr size_t kLongestFrame = 2048 - wire::kBytes<Encapsulation>;
  static constexpr size_t kMtu =
      kLongestFrame - wire::kBytes<EthernetHeader> - 4;

  // What it stands on.  All must outlive it.
  struct Parts {
    Timers& timers;
    mad::Host& host;
    int port;
    verbs::Provider& provider;
    mad::MulticastMembers& members;
  };
  // `device` must outlive this.  REQUIRES: name.size() <= kLongestSwitchName
  SwitchPort(const Parts& parts, std::string name, Device& device);
  ~SwitchPort() override;
  SwitchPort(const SwitchPort&) = delete;
  SwitchPort& operator=(const SwitchPort&) = delete;

  // The switch's.
  const std::string& name() const { return name_; }
  // Returns a locally administered address with the last of the port's GUID in
  // it, so that each port of a fabric has one of its own.
  MacAddress mac() const;

  bool up() const override;
  size_t mtu() const override { return kMtu; }
  size_t room() const override;
  void Send(std::span<const std::byte> frame) override;
  const Counters& counters() const override { return counters_; }

  // Returns how many of the frames sent went to the group.
  uint64_t flooded() const { return flooded_; }
  const StationTable& stations() const { return stations_; }

 private:
  const mad::Port& port() const {
    return parts_.host.device().port(parts_.port);
  }
  bool IsActive() const;
  std::optional<uint16_t> PKeyIndex() const;
  uint16_t pkey() const;
  void Refresh();
  void OnGroup(const mad::McMemberRecord* group);
  bool OpenQueue(const mad::McMemberRecord& group, uint16_t pkey_index);
  void Announce();

  // verbs::AsyncEventListener
  void OnDeviceEvent(verbs::AsyncEventType type, int port) override;
  // DatagramQueue::Listener
  void OnDatagram(const DatagramQueue::Datagram& datagram) override;
  void OnRoom() override { device_.OnRoom(); }

  const Parts parts_;
  const std::string name_;
  Device& device_;
  bool gone_ = false;  // the adapter
  StationTable stations_;
  Counters counters_;
  uint64_t flooded_ = 0;
  std::unique_ptr<DatagramQueue> queue_;  // null: was never up
  // The group that the queue pair is attached to.
  std::optional<std::pair<wire::Gid, wire::Lid>> attached_;
  SteadyMembership group_;
  // An event may come in the middle of a call, and others with it.
  DeferredCall refresh_{parts_.timers, [this] { Refresh(); }};
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_ETHERNET_SWITCH_PORT_H_
