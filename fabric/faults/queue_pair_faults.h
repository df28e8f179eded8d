// QueuePairFaults: faults of the packets of queue pairs.
#ifndef IBEMU_FABRIC_FAULTS_QUEUE_PAIR_FAULTS_H_
#define IBEMU_FABRIC_FAULTS_QUEUE_PAIR_FAULTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "base/timers.h"
#include "fabric/faults/fault_lane.h"
#include "fabric/subnet/events.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// The packets of a queue pair that a fault concerns.
enum class QueuePairDirection : uint8_t { kSent, kReceived };

// The key of one fault of one direction of the queue pairs of a host.
struct QueuePairFaultId {
  topology::NodeId node;
  QueuePairDirection direction;
  uint32_t number;  // unique among these, and none of a link fault's
};

// The faults between the queue pairs of all software adapters and their ports.
// They act on single packets.  Each queue pair keeps the order of its packets
// in each direction, as on a link.
class QueuePairFaults {
 public:
  using Passes = absl::AnyInvocable<void(const Packet&)>;

  // The most packets that are delayed at a time, over all adapters.  Further
  // ones are lost.
  static constexpr size_t kMaxLate = 1 << 14;

  // `events` hears of the packets that are lost.  All must outlive this.
  QueuePairFaults(Subnet& subnet, FabricEvents& events, Timers& timers,
                  uint64_t seed);
  QueuePairFaults(const QueuePairFaults&) = delete;
  QueuePairFaults& operator=(const QueuePairFaults&) = delete;
  ~QueuePairFaults();

  // Adds a fault to the packets of all queue pairs of the node, or of `qpn`.
  QueuePairFaultId Add(topology::NodeId node, QueuePairDirection direction,
                       std::optional<uint32_t> qpn, LinkFaults faults,
                       const FaultChance& chance);
  // REQUIRES: the fault was added and not removed.
  void Remove(QueuePairFaultId fault);
  const FaultCounts& CountsOf(QueuePairFaultId fault) const;

  // Returns true if the node has a fault, so that its packets go through
  // Pass().
  bool Concern(topology::NodeId node) const {
    return !nodes_.empty() && nodes_.contains(node);
  }

  // Calls `passes` for each packet that gets through, now or later, twice if it
  // is duplicated.  `port` is the one through which the packets leave or came:
  // that which receives a corrupted packet counts it.  REQUIRES: Concern(node
  // of `port`).
  void Pass(PortId port, QueuePairDirection direction, const Packet& packets,
            Passes passes);

 private:
  // One direction of the queue pairs of a node.
  struct Lane {
    FaultLane faults;
    // Of queue pairs that have late packets.
    absl::flat_hash_map<uint32_t, absl::Time> last_arrivals;
  };
  struct NodeLanes {
    Lane sent, received;

    Lane& operator[](QueuePairDirection direction) {
      return direction == QueuePairDirection::kSent ? sent : received;
    }
  };

  FaultLane::Fate Decide(Lane& lane, uint32_t qpn, const Packet& packet);
  void TellLost(PortId port, const Packet& packet, const FaultLane::Fate& fate);
  void CountCorrupted(PortId port, QueuePairDirection direction,
                      const FaultLane::Fate& fate);
  void PassLater(absl::Time arrival, const Packet& packet,
                 std::shared_ptr<Passes> passes);

  Subnet& subnet_;
  FabricEvents& events_;
  Timers& timers_;
  const uint64_t seed_;
  absl::flat_hash_map<topology::NodeId, NodeLanes> nodes_;
  uint32_t last_ = 1u << 31;
  size_t late_ = 0;
  // Timer tasks may outlive this object: they hold this pointer, which the
  // destructor sets to null.
  std::shared_ptr<QueuePairFaults*> self_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_QUEUE_PAIR_FAULTS_H_
