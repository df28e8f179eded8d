// LeaseTable: the leases by which joined hosts send packets to each other, past
// the daemon that has the subnet.
#ifndef IBEMU_DAEMON_REMOTE_NODE_LEASES_LEASE_TABLE_H_
#define IBEMU_DAEMON_REMOTE_NODE_LEASES_LEASE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/deferred_call.h"
#include "base/secret.h"
#include "base/timers.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "fabric/fabric.h"
#include "fabric/forwarding/clear_path.h"
#include "fabric/subnet/fabric_watcher.h"
#include "topology/topology.h"

namespace ibemu::daemon {

// A LeaseTable gives a lease for packets of one kind, from one host's port to
// another host, as long as the fabric would do nothing to them but count them
// (fabric::ClearPath).  A fault, a tap or another path ends it, and packets go
// through the fabric again.  What was sent by a lease is counted at each port
// of the path, some milliseconds later.
//
// The end of a lease may let packets that still go through the fabric arrive
// after later ones, as another route does; its beginning does not.
class LeaseTable final : private fabric::FabricWatcher {
 public:
  // The packets of a kind that go through the fabric before a lease is given:
  // at first, and after one could not be given or has ended.  The second number
  // doubles each time, up to the last one, until a lease is used.
  static constexpr uint32_t kFirstPackets = 8;
  static constexpr uint32_t kMorePackets = 512;
  static constexpr uint32_t kMaxPackets = 1 << 16;
  // Bounds for each host: kinds of packets that are counted, leases by which it
  // sends, and leases by which others send to it.  When others have as many,
  // the one that has the most gives up some for one that has fewer.
  static constexpr size_t kMaxKinds = 4096;
  static constexpr size_t kMaxLeases = 1024;
  // A lease that is not used for so long ends, after twice that time at the
  // latest.
  static constexpr absl::Duration kIdle = absl::Minutes(1);

  // A Place is where a joined host's daemon meets those of other hosts.
  struct Place {
    // Where its machine waits for connections, "10.0.0.7:40123"; empty for a
    // daemon of this machine.
    std::string address;
    bool encrypts = false;  // connections from there, and to there, are TLS's
  };

  // A Party is a joined host that may have leases: it tells the table what it
  // does, and leaves it when it is destroyed.
  class Party {
   public:
    // What the table has to tell the host's daemon, of a port.  Returns false
    // if there is no room for a lease more; what else there is finds room.
    using Tell = std::function<bool(NodeLinkMessage type, int port,
                                    std::span<const std::byte> payload)>;

    ~Party();
    Party(const Party&) = delete;
    Party& operator=(const Party&) = delete;

    // The host has sent a packet, or several of one message, through the
    // fabric: it may deserve a lease.
    void OnPacket(fabric::PortId from, const fabric::Packet& packet);
    // The host expects the other's connection.
    void OnReady(uint32_t number);
    // Packets that it sends from now on go by the lease.
    void OnUsed(uint32_t number);
    // Tells the host again which leases are used by which it is sent to: what
    // it was told may be lost.
    void RepeatUsed() const;
    void OnUsage(const NodeLinkLeaseUsage& usage);
    // The host has given the lease up, and has told all that it sent by it.
    void OnEnded(uint32_t number);

    // Leases by which it sends.
    size_t leases() const { return sent_.size(); }

   private:
    friend class LeaseTable;
    Party(LeaseTable& table, topology::NodeId node, Place place, Tell tell)
        : table_(table),
          node_(node),
          place_(std::move(place)),
          tell_(std::move(tell)) {}

    // Packets of a kind that a port sends through the fabric.
    struct Candidate {
      uint32_t left = kFirstPackets;  // until they get a lease
      uint32_t more = kMorePackets;   // the next time
      uint32_t lease = 0;             // 0: none
    };

    LeaseTable& table_;
    const topology::NodeId node_;
    const Place place_;
    const Tell tell_;
    absl::flat_hash_map<std::pair<fabric::PortId, fabric::PacketKind>,
                        Candidate>
        candidates_;
    // The numbers of the leases by which it sends, and by which others send to
    // it.
    std::set<uint32_t> sent_, received_;
  };

  // `draw_token`: a number that nobody can guess.  All must outlive this, and
  // this all parties.
  LeaseTable(Timers& timers, fabric::Fabric& fabric,
             std::function<Secret()> draw_token);
  ~LeaseTable();
  LeaseTable(const LeaseTable&) = delete;
  LeaseTable& operator=(const LeaseTable&) = delete;

  // REQUIRES: the node has no party yet.
  std::unique_ptr<Party> Join(topology::NodeId node, Place place,
                              Party::Tell tell);

 private:
  struct Lease {
    topology::NodeId sender{}, receiver{};
    fabric::PortId from{};
    fabric::PacketKind kind;
    fabric::ClearPath path;
    std::vector<fabric::PortId> ports;  // both ends of each link of the path
    Secret token{};
    bool told = false;   // to the sender
    bool begun = false;  // the sender uses it
    bool ended = false;  // and the sender has still to say what it has sent
    bool idle = false;   // nothing was sent since the last look
  };
  using Leases = std::map<uint32_t, Lease>;

  // fabric::FabricWatcher
  void OnPortChange(fabric::PortId port) override;
  void OnTrap(fabric::PortId, const mad::Notice&, bool) override {}
  void OnDrop(const fabric::DroppedPacket&) override {}

  // Returns the number of a new lease, or 0.
  uint32_t Give(Party& sender, fabric::PortId from,
                const fabric::PacketKind& kind);
  // Returns whether the receiver may have another lease of this sender's.
  bool MakeRoom(const Party& sender, Party& receiver);
  bool TellLease(uint32_t number, const Lease& lease, bool receives) const;
  void TellOf(NodeLinkMessage type, uint32_t number, topology::NodeId node,
              fabric::PortId port) const;
  // Asks both hosts to end it.
  void Revoke(Leases::iterator lease);
  // Tells the receiver, which may have others then.
  void EndAtReceiver(Leases::iterator lease);
  // The sender has nothing more to say of it.
  void ForgetSender(Leases::iterator lease);
  void Erase(Leases::iterator lease);
  // Ends those of these leases whose path is not what it was.
  void Check(std::span<const uint32_t> numbers);
  // The same of the leases whose path leads through a port, of those that lead
  // through one that has changed, and of all.
  void CheckAt(fabric::PortId port);
  void CheckChanged();
  void CheckAll();
  // Ends those that nobody uses.
  void CheckIdle();
  // Returns leases_.end() unless `party` is what `end` says of the lease.
  Leases::iterator Find(const Party& party, uint32_t number,
                        topology::NodeId Lease::*end);
  int NumberOf(fabric::PortId port) const;

  Timers& timers_;
  fabric::Fabric& fabric_;
  const std::function<Secret()> draw_token_;
  std::map<topology::NodeId, Party*> parties_;
  Leases leases_;
  // The numbers of those whose path leads through a port.
  absl::flat_hash_map<fabric::PortId, std::set<uint32_t>> at_port_;
  std::set<fabric::PortId> changed_;  // since the last check
  uint32_t last_number_ = 0;
  TimerId idle_timer_ = TimerId::kNone;
  // Expires with this: for tasks.
  const std::shared_ptr<LeaseTable*> self_ =
      std::make_shared<LeaseTable*>(this);
  DeferredCall check_{timers_, [this] { CheckChanged(); }};
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_LEASES_LEASE_TABLE_H_
