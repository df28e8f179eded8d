// ConnectedLink: an IPoIB interface in connected mode.
#ifndef IBEMU_IPOIB_CONNECTED_CONNECTED_LINK_H_
#define IBEMU_IPOIB_CONNECTED_CONNECTED_LINK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/timers.h"
#include "cm/connection_manager.h"
#include "ipoib/connected/connected_queue.h"
#include "ipoib/connected/connected_receiver.h"
#include "ipoib/connected/connected_sender.h"
#include "ipoib/link.h"
#include "mad/sa/sa_client.h"
#include "verbs/provider.h"

namespace ibemu::ipoib {

// A ConnectedLink sends to neighbours that have connected mode by connections,
// and all else by the interface that it is over.  While it has a user, and can
// take connections, its hardware address says that it has connected mode.
class ConnectedLink final : public Link,
                            private Link::User,
                            private ConnectedQueue::Listener {
 public:
  // What it stands on.  All must outlive it.
  struct Parts {
    Timers& timers;
    verbs::Provider& provider;
    mad::SaClient& sa;
    cm::ConnectionManager& cm;
    Link& datagrams;  // nobody else may use it
  };
  ConnectedLink(const Parts& parts, Random random);
  ~ConnectedLink() override;
  ConnectedLink(const ConnectedLink&) = delete;
  ConnectedLink& operator=(const ConnectedLink&) = delete;

  // Link
  void SetUser(Link::User* user) override;
  bool up() const override { return parts_.datagrams.up(); }
  size_t mtu() const override;
  const mad::McMemberRecord* broadcast_group() const override {
    return parts_.datagrams.broadcast_group();
  }
  const std::vector<wire::IpNetwork>& own_addresses() const override {
    return parts_.datagrams.own_addresses();
  }
  HardwareAddress hardware_address() const override {
    return parts_.datagrams.hardware_address();
  }
  uint16_t pkey() const override { return parts_.datagrams.pkey(); }
  std::unique_ptr<Resolution> ResolveHardware(
      const wire::IpAddress& address, absl::Duration timeout,
      absl::AnyInvocable<void(absl::StatusOr<HardwareAddress>)> done) override;
  size_t room() const override;
  void SendTo(const HardwareAddress& neighbor,
              std::vector<std::byte> datagram) override;
  void SendToGroup(const mad::McMemberRecord& group,
                   std::span<const std::byte> datagram) override;
  bool TakeNeighborMessage(std::span<const std::byte> datagram) override {
    return parts_.datagrams.TakeNeighborMessage(datagram);
  }
  std::unique_ptr<SteadyMembership> Join(
      const wire::IpAddress& group, JoinAs as,
      SteadyMembership::Changed changed) override;
  void Attach(const mad::McMemberRecord& group) override {
    parts_.datagrams.Attach(group);
  }
  void Detach(const mad::McMemberRecord& group) override {
    parts_.datagrams.Detach(group);
  }

 private:
  // What there is with the first queue of the interface.
  struct Connections {
    Connections(ConnectedLink& link, std::unique_ptr<ConnectedQueue> made);

    const std::unique_ptr<ConnectedQueue> queue;
    ConnectedSender sender;
    ConnectedReceiver receiver;
  };

  void Open();
  // Tells the user that a datagram is longer than that.
  void Refuse(std::span<const std::byte> datagram, size_t most);

  // Link::User
  void OnPacket(std::span<const std::byte> packet) override;
  void OnNeighbor(const HardwareAddress& neighbor) override;
  void OnTooLong(std::span<const std::byte> packet, size_t mtu) override;
  uint8_t hardware_flags() const override {
    return connections_ ? kConnectedFlag : uint8_t{0};
  }
  void OnLinkChange() override;
  // Both
  void OnRoom() override;
  // ConnectedQueue::Listener
  void OnMessage(std::span<const std::byte> datagram) override;
  void OnBroken(uint32_t qpn) override;

  const Parts parts_;
  Random random_;
  Link::User* user_ = nullptr;
  std::optional<Connections> connections_;  // nothing: it was never up
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_CONNECTED_CONNECTED_LINK_H_
