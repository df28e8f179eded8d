// SwitchPort: a port of a host on a virtual switch of Ethernet.
#ifndef IBEMU_IPOIB_ETHERNET_SWITCH_PORT_H_
#define IBEMU_IPOIB_ETHERNET_SWITCH_PORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/timers.h"
#include "ipoib/datagram_queue.h"
#include "ipoib/ethernet/station_table.h"
#include "ipoib/steady_membership.h"
#include "ipoib/wire/ethernet_header.h"
#include "mad/host.h"
#include "mad/sa/multicast_members.h"
#include "verbs/provider.h"

namespace ibemu::ipoib {

// A SwitchPort sends the frames that a kernel gives it, each as a datagram, and
// hands it those that arrive, as long as the port is active and a member of the
// switch's group.  Both sides may hand it anything: what is no frame, or is too
// long, is dropped.
class SwitchPort final : private verbs::AsyncEventListener,
                         private DatagramQueue::Listener {
 public:
  // The most bytes of a frame's payload.
  static constexpr size_t kMtu =
      2048 - wire::kBytes<Encapsulation> - wire::kBytes<EthernetHeader>;

  // The kernel's side.  None of these may destroy the port.
  class Device {
   public:
    // Receives a frame; `frame` goes with the call.
    virtual void Receive(std::span<const std::byte> frame) = 0;
    // up() may have changed.
    virtual void OnLinkChange() = 0;
    // room() is not 0 any more.
    virtual void OnRoom() = 0;

   protected:
    ~Device() = default;
  };
  // What it stands on.  All must outlive it.
  struct Parts {
    Timers& timers;
    mad::Host& host;
    int port;
    verbs::Provider& provider;
    mad::MulticastMembers& members;
  };
  struct Counters {
    uint64_t sent = 0, sent_bytes = 0;
    uint64_t received = 0, received_bytes = 0;
    uint64_t dropped = 0;  // that the kernel sent
    uint64_t flooded = 0;  // that went to the group
  };

  // `device` must outlive this.  REQUIRES: name.size() <= kLongestSwitchName
  SwitchPort(const Parts& parts, std::string name, Device& device);
  ~SwitchPort();
  SwitchPort(const SwitchPort&) = delete;
  SwitchPort& operator=(const SwitchPort&) = delete;

  // The switch's.
  const std::string& name() const { return name_; }
  bool up() const;
  // Whether it may be up soon: the port is active, and the group not joined.
  bool waits() const;
  // Returns a locally administered address with the last of the port's GUID in
  // it, so that each port of a fabric has one of its own.
  MacAddress mac() const;

  // Returns how many frames can be sent before others are lost.  While it is
  // down, all are.
  size_t room() const;
  // Sends a frame, or loses it.
  void Send(std::span<const std::byte> frame);

  const Counters& counters() const { return counters_; }
  const StationTable& stations() const { return stations_; }

 private:
  const mad::Port& port() const {
    return parts_.host.device().port(parts_.port);
  }
  bool IsActive() const;
  std::optional<uint16_t> PKeyIndex() const;
  uint16_t pkey() const;
  void RefreshSoon();
  void Refresh();
  void OnGroup(const mad::McMemberRecord* group);
  void OpenQueue(const mad::McMemberRecord& group, uint16_t pkey_index);

  // verbs::AsyncEventListener
  void OnDeviceEvent(verbs::EventType type, int port) override;
  // DatagramQueue::Listener
  void OnDatagram(const DatagramQueue::Datagram& datagram) override;
  void OnRoom() override { device_.OnRoom(); }

  const Parts parts_;
  const std::string name_;
  Device& device_;
  bool gone_ = false;  // the adapter
  bool refreshing_ = false;
  StationTable stations_;
  Counters counters_;
  std::unique_ptr<DatagramQueue> queue_;  // null: was never up
  SteadyMembership group_;
  // Expires with this: for tasks.
  const std::shared_ptr<SwitchPort*> self_ =
      std::make_shared<SwitchPort*>(this);
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_ETHERNET_SWITCH_PORT_H_
