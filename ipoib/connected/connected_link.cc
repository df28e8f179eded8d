#include "ipoib/connected/connected_link.h"

#include <algorithm>
#include <utility>

#include "ipoib/connected/connection_data.h"

namespace ibemu::ipoib {
namespace {

constexpr size_t kHeader = wire::kBytes<Encapsulation>;

}  // namespace

ConnectedLink::Connections::Connections(ConnectedLink& link,
                                        std::unique_ptr<ConnectedQueue> made)
    : queue(std::move(made)),
      sender(link.parts_.sa, link.parts_.cm, *queue,
             Random(link.random_.Next()),
             [&link](std::span<const std::byte> datagram, size_t most) {
               link.Refuse(datagram, most);
             }),
      receiver(link.parts_.cm, *queue, Random(link.random_.Next())) {}

ConnectedLink::ConnectedLink(const Parts& parts, Random random)
    : parts_(parts), random_(random) {}

ConnectedLink::~ConnectedLink() {
  if (user_ != nullptr) SetUser(nullptr);
}

void ConnectedLink::SetUser(Link::User* user) {
  user_ = user;
  parts_.datagrams.SetUser(user == nullptr ? nullptr : this);
  if (user == nullptr) connections_.reset();
}

size_t ConnectedLink::mtu() const {
  return parts_.datagrams.mtu() == 0 ? 0 : kConnectedMtu;
}

std::unique_ptr<Resolution> ConnectedLink::ResolveHardware(
    const wire::IpAddress& address, absl::Duration timeout,
    absl::AnyInvocable<void(absl::StatusOr<HardwareAddress>)> done) {
  return parts_.datagrams.ResolveHardware(address, timeout, std::move(done));
}

size_t ConnectedLink::room() const {
  const size_t room = parts_.datagrams.room();
  return connections_ ? std::min(room, connections_->queue->room()) : room;
}

void ConnectedLink::SendTo(const HardwareAddress& neighbor,
                           std::vector<std::byte> datagram) {
  if (connections_ && (neighbor.flags & kConnectedFlag) != 0) {
    const HardwareAddress own = hardware_address();
    return connections_->sender.Send(
        {.gid = own.gid, .pkey = pkey(), .qpn = own.qpn}, neighbor,
        std::move(datagram));
  }
  const size_t most = parts_.datagrams.mtu() + kHeader;
  if (datagram.size() > most) return Refuse(datagram, most);
  parts_.datagrams.SendTo(neighbor, std::move(datagram));
}

void ConnectedLink::SendToGroup(const mad::McMemberRecord& group,
                                std::span<const std::byte> datagram) {
  const size_t most = parts_.datagrams.mtu() + kHeader;
  if (datagram.size() > most) return Refuse(datagram, most);
  parts_.datagrams.SendToGroup(group, datagram);
}

std::unique_ptr<SteadyMembership> ConnectedLink::Join(
    const wire::IpAddress& group, JoinAs as,
    SteadyMembership::Changed changed) {
  return parts_.datagrams.Join(group, as, std::move(changed));
}

void ConnectedLink::Refuse(std::span<const std::byte> datagram, size_t most) {
  if (user_ != nullptr && datagram.size() > kHeader && most > kHeader) {
    user_->OnTooLong(datagram.subspan(kHeader), most - kHeader);
  }
}

// Without connections everything is sent by datagrams.
void ConnectedLink::Open() {
  if (!connections_) {
    auto queue = ConnectedQueue::Create(parts_.timers, parts_.provider, *this);
    if (!queue.ok()) return;
    connections_.emplace(*this, *std::move(queue));
  }
  connections_->sender.Forget();
  const absl::Status listens =
      connections_->receiver.Listen(hardware_address().qpn);
  if (!listens.ok()) connections_.reset();
}

void ConnectedLink::OnPacket(std::span<const std::byte> packet) {
  user_->OnPacket(packet);
}

void ConnectedLink::OnNeighbor(const HardwareAddress& neighbor) {
  user_->OnNeighbor(neighbor);
}

void ConnectedLink::OnTooLong(std::span<const std::byte> packet, size_t mtu) {
  user_->OnTooLong(packet, mtu);
}

void ConnectedLink::OnLinkChange() {
  if (up()) Open();
  user_->OnLinkChange();
}

void ConnectedLink::OnRoom() {
  if (room() > 0) user_->OnRoom();
}

// Linux sends by a connection what ND has for single neighbours.
void ConnectedLink::OnMessage(std::span<const std::byte> datagram) {
  if (parts_.datagrams.TakeNeighborMessage(datagram)) return;
  if (IsIp(datagram)) user_->OnPacket(datagram.subspan(kHeader));
}

void ConnectedLink::OnBroken(uint32_t qpn) {
  connections_->sender.OnBroken(qpn);
}

}  // namespace ibemu::ipoib
