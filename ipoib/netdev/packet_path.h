// PacketPath: the way of packets between a network device of a kernel and the
// fabric.
#ifndef IBEMU_IPOIB_NETDEV_PACKET_PATH_H_
#define IBEMU_IPOIB_NETDEV_PACKET_PATH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/timers.h"
#include "ipoib/link.h"
#include "ipoib/netdev/group_table.h"
#include "ipoib/netdev/icmp_error.h"
#include "ipoib/netdev/ip_packet.h"
#include "ipoib/netdev/neighbor_queue.h"

namespace ibemu::ipoib {

// A PacketPath takes IP packets that a kernel sends, finds out to whom they go,
// and sends them as datagrams; what arrives goes to the device.  Both sides may
// hand it anything: what is no sound packet is dropped, and what comes from the
// fabric in the name of an own address.
class PacketPath final : private Link::User {
 public:
  // The kernel's side.  None of these may destroy the path.
  class Device {
   public:
    // Receives a packet; `packet` goes with the call.
    virtual void Receive(std::span<const std::byte> packet) = 0;
    // Link::up() may have changed.
    virtual void OnLinkChange() = 0;
    // room() is not 0 any more.
    virtual void OnRoom() = 0;

   protected:
    ~Device() = default;
  };
  struct Counters {
    uint64_t sent = 0, sent_bytes = 0;
    uint64_t received = 0, received_bytes = 0;
    uint64_t dropped = 0;  // that the kernel sent
  };

  // All must outlive this, which uses the link as long as it lives.
  PacketPath(Timers& timers, Link& link, Device& device);
  ~PacketPath();
  PacketPath(const PacketPath&) = delete;
  PacketPath& operator=(const PacketPath&) = delete;

  // Returns how many packets can be sent before others are lost.  While the
  // link is down, all are.
  size_t room() const;

  // Sends a packet, or loses it.
  void Send(std::span<const std::byte> packet);

  const Counters& counters() const { return counters_; }

 private:
  bool IsOwn(const wire::IpAddress& address) const;
  bool IsBroadcast(const wire::IpAddress& address) const;
  bool TakeReports(const IpPacket& packet);
  void Answer(IcmpError error, std::span<const std::byte> packet);

  // Link::User
  void OnPacket(std::span<const std::byte> packet) override;
  void OnNeighbor(const HardwareAddress& neighbor) override;
  void OnLinkChange() override;
  void OnRoom() override { device_.OnRoom(); }

  Link& link_;
  Device& device_;
  NeighborQueue neighbors_;
  GroupTable groups_;
  Counters counters_;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_NETDEV_PACKET_PATH_H_
