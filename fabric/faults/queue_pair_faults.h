// QueuePairFaults: faults of the packets of queue pairs.
#ifndef IBEMU_FABRIC_FAULTS_QUEUE_PAIR_FAULTS_H_
#define IBEMU_FABRIC_FAULTS_QUEUE_PAIR_FAULTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "base/timers.h"
#include "fabric/faults/fault_lane.h"
#include "fabric/faults/fault_place.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// The packets of a queue pair that a fault concerns.
enum class QueuePairDirection : uint8_t { kSent, kReceived };

// The key of one fault of one direction of the queue pairs of a place.
struct QueuePairFaultId {
  FaultPlace place;
  QueuePairDirection direction;
  uint32_t number;  // unique among these, and none of a link's or node's
};

// The faults between the queue pairs of all software adapters and their ports.
// They act on single packets, those of the adapter before those of the process.
// Each queue pair keeps the order of its packets in each direction, as on a
// link.
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

  // Adds a fault to the packets of all queue pairs of the place, or of `qpn`.
  QueuePairFaultId Add(FaultPlace place, QueuePairDirection direction,
                       std::optional<uint32_t> qpn, LinkFaults faults,
                       const FaultChance& chance);
  // REQUIRES: the fault was added and not removed.
  void Remove(QueuePairFaultId fault);
  const FaultCounts& CountsOf(QueuePairFaultId fault) const;

  bool empty() const { return places_.empty(); }
  // Returns true if the node or the process has a fault, so that their packets
  // go through Pass().
  bool Concern(topology::NodeId node, uint64_t process) const {
    return !empty() && (places_.contains(FaultPlace::OfNode(node)) ||
                        places_.contains(FaultPlace::OfProcess(process)));
  }

  // Calls `passes` for each packet that gets through, now or later, twice if it
  // is duplicated.  `port` is the one through which the packets leave or came:
  // that which receives a corrupted packet counts it.  `process`: whose the
  // queue pair is.
  void Pass(PortId port, uint64_t process, QueuePairDirection direction,
            const Packet& packets, Passes passes);

 private:
  using QueuePairKey = std::pair<topology::NodeId, uint32_t>;

  // One direction of the queue pairs of a place.
  struct Lane {
    FaultLane faults;
    // Of queue pairs that have late packets.
    absl::flat_hash_map<QueuePairKey, absl::Time> last_arrivals;
  };
  struct PlaceLanes {
    Lane sent, received;

    Lane& operator[](QueuePairDirection direction) {
      return direction == QueuePairDirection::kSent ? sent : received;
    }
  };

  // Does what Pass() does, by the faults of one place, if it has any now.
  void PassAt(FaultPlace place, PortId port, QueuePairDirection direction,
              const Packet& packets, const std::shared_ptr<Passes>& passes);
  FaultLane::Fate Decide(Lane& lane, QueuePairKey queue_pair,
                         const Packet& packet);
  void TellLost(PortId port, const Packet& packet, const FaultLane::Fate& fate);
  void CountCorrupted(PortId port, QueuePairDirection direction,
                      const FaultLane::Fate& fate);
  void PassLater(absl::Time arrival, const Packet& packet,
                 std::shared_ptr<Passes> passes);

  Subnet& subnet_;
  FabricEvents& events_;
  Timers& timers_;
  const uint64_t seed_;
  absl::flat_hash_map<FaultPlace, PlaceLanes> places_;
  uint32_t last_ = 1u << 31;
  size_t late_ = 0;
  // Timer tasks may outlive this object: they hold this pointer, which the
  // destructor sets to null.
  std::shared_ptr<QueuePairFaults*> self_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_QUEUE_PAIR_FAULTS_H_
