#include "ipoib/netdev/packet_path.h"

#include <algorithm>
#include <limits>

#include "ipoib/netdev/group_report.h"

namespace ibemu::ipoib {
namespace {

using Bytes = std::span<const std::byte>;

// The groups that each kernel listens to without saying so.
constexpr wire::IpAddress kAllSystems = wire::IpAddress::Ipv4(0xe0000001);
constexpr wire::IpAddress kAllNodes = wire::IpAddress::Ipv6(
    {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});

constexpr uint32_t kEverybody = 0xffffffff;  // 255.255.255.255

// Returns the highest address of a network.
// REQUIRES: network.prefix < 32
uint32_t LastOf(const wire::IpNetwork& network) {
  return network.address.ipv4() | kEverybody >> network.prefix;
}

}  // namespace

PacketPath::PacketPath(Timers& timers, Link& link, Device& device)
    : link_(link),
      device_(device),
      neighbors_(timers, link,
                 [this](const NeighborQueue::Datagram& datagram) {
                   Answer(IcmpError::kHostUnreachable, link_.mtu(),
                          Bytes(datagram).subspan(wire::kBytes<Encapsulation>));
                 }),
      groups_(timers, link) {
  groups_.Listen(kAllSystems);
  groups_.Listen(kAllNodes);
  link_.SetUser(this);
}

PacketPath::PacketPath(Timers& timers, std::unique_ptr<Link> link,
                       Device& device)
    : PacketPath(timers, *link, device) {
  own_link_ = std::move(link);
}

PacketPath::~PacketPath() { link_.SetUser(nullptr); }

size_t PacketPath::room() const {
  return link_.up() ? link_.room() : std::numeric_limits<size_t>::max();
}

bool PacketPath::IsOwn(const wire::IpAddress& address) const {
  return wire::IsOwnAddress(address, link_.own_addresses());
}

// A /31 and a /32 have none of their own.
bool PacketPath::IsBroadcast(const wire::IpAddress& address) const {
  if (!address.is_ipv4()) return false;
  if (address.ipv4() == kEverybody) return true;
  return std::ranges::any_of(
      link_.own_addresses(), [&](const wire::IpNetwork& own) {
        return own.address.is_ipv4() && own.prefix < 31 &&
               address.ipv4() == LastOf(own);
      });
}

void PacketPath::Send(Bytes bytes) {
  const auto packet = ParseIpPacket(bytes);
  const bool up = link_.up();
  if (!packet || !up || packet->destination.IsUnspecified()) {
    ++counters_.dropped;
    return;
  }
  // Reports end here: there is no router that would hear them.
  if (TakeReports(*packet)) return;
  if (bytes.size() > link_.mtu()) {
    ++counters_.dropped;
    return Answer(IcmpError::kTooBig, link_.mtu(), bytes);
  }
  ++counters_.sent;
  counters_.sent_bytes += bytes.size();
  std::vector<std::byte> datagram = Encapsulate(packet->type(), bytes);
  if (IsBroadcast(packet->destination)) {
    link_.SendToGroup(*link_.broadcast_group(), datagram);
  } else if (packet->destination.IsMulticast()) {
    groups_.Send(packet->destination, std::move(datagram));
  } else {
    neighbors_.Send(packet->destination, std::move(datagram));
  }
}

// Returns true if the packet says which groups the kernel listens to.
bool PacketPath::TakeReports(const IpPacket& packet) {
  const auto reports = ReadGroupReports(packet);
  if (!reports) return false;
  for (const GroupReport& report : *reports) {
    if (!report.group.IsMulticast()) continue;
    if (report.listens) {
      groups_.Listen(report.group);
    } else {
      groups_.Ignore(report.group);
    }
  }
  return true;
}

// Tells the kernel, in the name of an own address.
void PacketPath::Answer(IcmpError error, size_t mtu, Bytes packet) {
  for (const wire::IpNetwork& own : link_.own_addresses()) {
    const auto answer = MakeIcmpError(error, mtu, packet, own.address);
    if (answer) return device_.Receive(*answer);
  }
}

void PacketPath::OnPacket(Bytes bytes) {
  const auto packet = ParseIpPacket(bytes);
  if (!packet || IsOwn(packet->source)) return;
  ++counters_.received;
  counters_.received_bytes += bytes.size();
  device_.Receive(bytes);
}

void PacketPath::OnNeighbor(const HardwareAddress& neighbor) {
  neighbors_.Learn(neighbor);
}

void PacketPath::OnTooLong(Bytes packet, size_t mtu) {
  --counters_.sent;
  counters_.sent_bytes -= packet.size();
  ++counters_.dropped;
  Answer(IcmpError::kTooBig, mtu, packet);
}

void PacketPath::OnLinkChange() {
  neighbors_.Forget();
  groups_.OnLinkChange();
  device_.OnLinkChange();
}

}  // namespace ibemu::ipoib
