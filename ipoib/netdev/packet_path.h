// PacketPath: the way of packets between a network device of a kernel and the
// fabric.
#ifndef IBEMU_IPOIB_NETDEV_PACKET_PATH_H_
#define IBEMU_IPOIB_NETDEV_PACKET_PATH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/timers.h"
#include "ipoib/carrier.h"
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
class PacketPath final : public Carrier, private Link::User {
 public:
  // All must outlive this, which uses the link as long as it lives.
  PacketPath(Timers& timers, Link& link, Device& device);
  // The same with a link that goes with this.
  PacketPath(Timers& timers, std::unique_ptr<Link> link, Device& device);
  ~PacketPath() override;
  PacketPath(const PacketPath&) = delete;
  PacketPath& operator=(const PacketPath&) = delete;

  bool up() const override { return link_.up(); }
  size_t mtu() const override { return link_.mtu(); }
  size_t room() const override;
  void Send(std::span<const std::byte> packet) override;
  const Counters& counters() const override { return counters_; }

 private:
  bool IsOwn(const wire::IpAddress& address) const;
  bool IsBroadcast(const wire::IpAddress& address) const;
  bool TakeReports(const IpPacket& packet);
  void Answer(IcmpError error, size_t mtu, std::span<const std::byte> packet);

  // Link::User
  void OnPacket(std::span<const std::byte> packet) override;
  void OnNeighbor(const HardwareAddress& neighbor) override;
  void OnTooLong(std::span<const std::byte> packet, size_t mtu) override;
  void OnLinkChange() override;
  void OnRoom() override { device_.OnRoom(); }

  std::unique_ptr<Link> own_link_;  // or null: it is somebody else's
  Link& link_;
  Device& device_;
  NeighborQueue neighbors_;
  GroupTable groups_;
  Counters counters_;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_NETDEV_PACKET_PATH_H_
