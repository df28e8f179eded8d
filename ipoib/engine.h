// Engine: an IPoIB interface in this process: it joins the broadcast group and
// answers and asks ARP and ND, by a UD queue pair of the adapter.
#ifndef IBEMU_IPOIB_ENGINE_H_
#define IBEMU_IPOIB_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/deferred_call.h"
#include "base/random.h"
#include "base/timers.h"
#include "ipoib/datagram_queue.h"
#include "ipoib/interface.h"
#include "ipoib/link.h"
#include "ipoib/neighbor_message.h"
#include "ipoib/neighbor_table.h"
#include "ipoib/steady_membership.h"
#include "ipoib/unicast_sender.h"
#include "mad/host.h"
#include "mad/sa/multicast_members.h"
#include "mad/sa/sa_client.h"
#include "verbs/provider.h"

namespace ibemu::ipoib {

// An Engine answers questions for its addresses.  While it has no user it
// answers echo requests, too, and drops the rest of what arrives.  It does
// nothing unless it is asked, a packet arrives, or the port changes.
class Engine final : public Interface,
                     public Link,
                     private verbs::AsyncEventListener,
                     private DatagramQueue::Listener,
                     private NeighborTable::Asker {
 public:
  // What an interface stands on.  All must outlive it.
  struct Parts {
    Timers& timers;
    mad::Host& host;
    int port;
    verbs::Provider& provider;
    mad::SaClient& sa;
    mad::MulticastMembers& members;
    // The partition, without the bit of full members; 0: that of the first
    // P_Key of the port's table, whichever it is.
    uint16_t partition = 0;
  };
  Engine(const Parts& parts, Random random,
         std::vector<wire::IpNetwork> addresses);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Interface
  const std::vector<wire::IpNetwork>& addresses() const override {
    return addresses_;
  }
  wire::Gid gid() const override;
  uint16_t pkey() const override;
  bool up() const override;
  const mad::McMemberRecord* broadcast_group() const override {
    return broadcast_.record();
  }
  std::unique_ptr<Resolution> Resolve(
      const wire::IpAddress& address, absl::Duration timeout,
      absl::AnyInvocable<void(absl::StatusOr<wire::Gid>)> done) override;
  // A task may destroy this.
  void WhenUp(absl::Duration patience,
              absl::AnyInvocable<void()> task) override;

  // Link
  void SetUser(User* user) override;
  size_t mtu() const override;
  const std::vector<wire::IpNetwork>& own_addresses() const override {
    return own_addresses_;
  }
  HardwareAddress hardware_address() const override;
  std::unique_ptr<Resolution> ResolveHardware(
      const wire::IpAddress& address, absl::Duration timeout,
      NeighborTable::Done done) override;
  size_t room() const override;
  void SendTo(const HardwareAddress& neighbor,
              std::vector<std::byte> datagram) override;
  void SendToGroup(const mad::McMemberRecord& group,
                   std::span<const std::byte> datagram) override;
  bool TakeNeighborMessage(std::span<const std::byte> datagram) override;
  std::unique_ptr<SteadyMembership> Join(
      const wire::IpAddress& group, JoinAs as,
      SteadyMembership::Changed changed) override;
  void Attach(const mad::McMemberRecord& group) override;
  void Detach(const mad::McMemberRecord& group) override;

 private:
  // A task that waits for the interface.
  struct Waiting {
    TimerId timer = TimerId::kNone;
    absl::AnyInvocable<void()> task;
  };
  using WaitingPlace = std::list<Waiting>::iterator;
  // The group of a neighbour that is asked for by ND.
  struct AskedGroup {
    std::unique_ptr<mad::MulticastMembership> membership;
    std::optional<mad::McMemberRecord> record;
  };

  const mad::Port& port() const {
    return parts_.host.device().port(parts_.port);
  }
  // Returns where the port has its P_Key; nullopt: the port is not in that
  // partition.
  std::optional<uint16_t> PKeyIndex() const;
  bool IsOwn(const wire::IpAddress& address) const;
  const wire::IpAddress* SourceFor(const wire::IpAddress& target) const;

  // What happens to the port and its memberships.
  void Refresh();
  void OnBroadcastGroup(const mad::McMemberRecord* group);
  bool OpenQueue(const mad::McMemberRecord& broadcast);
  DatagramQueue::Depth Depth() const;
  void DetachAll();
  void StartSolicitedGroups();
  bool HasLink() const;
  void RunWaiting();
  void RunAfter(absl::Duration delay, WaitingPlace waiting);

  // Questions and answers.
  void Announce();
  void AskBy(const mad::McMemberRecord& group, const wire::IpAddress& address);
  void JoinAskedGroup(const wire::IpAddress& address);
  void OnNeighborMessage(const NeighborMessage& message);

  // verbs::AsyncEventListener
  void OnDeviceEvent(verbs::AsyncEventType type, int port) override;
  // DatagramQueue::Listener
  void OnDatagram(const DatagramQueue::Datagram& datagram) override;
  void OnRoom() override;
  // NeighborTable::Asker
  void Ask(const wire::IpAddress& address) override;
  void StopAsking(const wire::IpAddress& address) override;

  const Parts parts_;
  const std::vector<wire::IpNetwork> addresses_;
  std::vector<wire::IpNetwork> own_addresses_;  // with those for a user
  User* user_ = nullptr;
  const uint32_t first_psn_;
  const absl::Time born_;
  bool gone_ = false;                     // the device
  std::unique_ptr<DatagramQueue> queue_;  // null: was never up
  std::vector<std::pair<wire::Gid, wire::Lid>> attached_;
  std::list<Waiting> waiting_;
  std::map<wire::IpAddress, AskedGroup> asked_groups_;
  UnicastSender unicast_;
  NeighborTable neighbors_;
  // Of the addresses of IPv6.
  std::vector<std::unique_ptr<SteadyMembership>> solicited_groups_;
  SteadyMembership broadcast_;
  // An event may come in the middle of a call, and others with it.
  DeferredCall refresh_{parts_.timers, [this] { Refresh(); }};
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_ENGINE_H_
