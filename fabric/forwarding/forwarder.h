// Forwarder: the engine that carries packets over links and through switches to
// their destination ports.
#ifndef IBEMU_FABRIC_FORWARDING_FORWARDER_H_
#define IBEMU_FABRIC_FORWARDING_FORWARDER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/observer_list.h"
#include "base/timers.h"
#include "fabric/faults/fault_lane.h"
#include "fabric/forwarding/clear_path.h"
#include "fabric/forwarding/flight_queue.h"
#include "fabric/forwarding/packet_tap.h"
#include "fabric/packet/packet.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/fabric_watcher.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// The receiver of packets that have reached their destination.
class PacketSink {
 public:
  virtual ~PacketSink() = default;

  // Takes a packet for the node of `ingress`, the port at which it came in: on
  // a switch, any port.  A directed-route SMP has its hop pointer as agents see
  // it.
  virtual void OnPacket(PortId ingress, const Packet& packet) = 0;

  // A switch dropped a packet at `port` because of its P_Key.
  virtual void OnEnforcedPKey(PortId port, const Packet& packet) = 0;
};

// The engine that moves packets.  A link takes no time, so a packet crosses the
// fabric in one step unless a fault delays it.  Packets cross in the order in
// which they were sent.  If there are many, other tasks and timers run in
// between.
class Forwarder {
 public:
  Forwarder(Subnet& subnet, Links& links, FabricEvents& events, Timers& timers,
            PacketSink& sink, uint64_t seed);
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;
  ~Forwarder();

  // Queues a packet; nothing happens before this returns.
  void Send(Flight::Step step, PortId port, const Packet& packet);

  // Sends a packet by its DLID from an end port (on a switch: port 0).
  void SendByAddress(PortId from, const Packet& packet);

  // Calls `task` when the packets that were sent before, and that no fault
  // delays, have been delivered, and before any that is sent later is.
  void AfterThese(Timers::Task task);

  // Calls `task` when the packets under way have been delivered, at the latest
  // when Drain() gives way to other tasks.
  void AfterDelivery(Timers::Task task);

  // Returns a number that no link fault has had: also for one that does not
  // concern single packets.
  uint32_t NewFaultNumber() { return ++last_fault_; }

  // Adds a fault to the packets that leave through `port`, until RemoveFault().
  FaultId AddFault(PortId port, const LinkFaults& faults,
                   const FaultChance& chance);
  // REQUIRES: the fault was added and not removed.
  void RemoveFault(FaultId fault);
  const FaultCounts& CountsOf(FaultId fault) const;

  // Not owned.  There is no cost while there is no tap.
  void AddTap(PacketTap& tap);
  void RemoveTap(const PacketTap& tap) { taps_.Remove(tap); }

  // Returns the path of such packets if it is clear and there is no tap.
  std::optional<ClearPath> FindClear(PortId from, const PacketKind& kind) const;
  // Counts packets that took this path elsewhere: see CountOn().
  void Account(const ClearPath& path, const PacketKind& kind, uint64_t packets,
               uint64_t words);
  // Calls `interfered` when a fault was added to a port, or a tap to all
  // (kNoPort): paths may not be clear any more.
  void OnInterference(std::function<void(PortId)> interfered) {
    interfered_ = std::move(interfered);
  }

  const ForwardingTotals& totals() const { return totals_; }

 private:
  void Schedule();
  void Drain();
  void RunAfterThese();
  // Moves a packet from hop to hop until it is delivered, dropped or delayed.
  void Walk(Flight& flight);

  void Carry(Flight& flight, PortId ingress, PortId egress);

  // Moves a packet from flight.port to the other end of its link.  Returns
  // false if it did not arrive there now; it has been dropped or will arrive
  // later.  `ingress`: the port through which it entered the node.
  bool CrossLink(Flight& flight, PortId ingress);
  bool CrossOneByOne(const Flight& train, PortId ingress);
  void Show(const Flight& flight, const NodePort& out);
  bool PassFaults(const Flight& flight, const NodePort& out);
  void ArriveLater(const Flight& flight, const NodePort& out,
                   absl::Time arrival);

  // The steps of a node that has received a packet.  They return the port to
  // leave through, or kNoPort if the packet ends here.
  PortId Enter(Flight& flight);
  PortId TakeAtEnd(PortId port, const Node& node, Packet& packet);
  PortId EnterSwitch(PortId ingress, const Node& node, Flight& flight);
  PortId TakeDirected(PortId ingress, const Node& node, Flight& flight);
  PortId RouteByLid(PortId ingress, const Node& node, Flight& flight);
  void Replicate(PortId ingress, const Node& node, const Flight& flight);
  PortId Deliver(PortId ingress, const Packet& packet);

  // Drop a packet and report it; the caller has counted it in the port's
  // counters, where they have one for this cause.  Drop() returns false,
  // NoWay() kNoPort, so that callers can return the result.
  bool Drop(DropCause cause, PortId port, const Packet& packet,
            uint32_t fault = 0);
  PortId NoWay(DropCause cause, PortId port, const Packet& packet);

  Subnet& subnet_;
  Links& links_;
  FabricEvents& events_;
  Timers& timers_;
  PacketSink& sink_;
  const uint64_t seed_;

  FlightQueue queue_;
  uint64_t taken_ = 0;  // from the queue, ever
  // Tasks, each with the value of taken_ at which it runs.
  std::deque<std::pair<uint64_t, Timers::Task>> after_these_;
  std::vector<Timers::Task> after_delivery_;
  bool scheduled_ = false;
  size_t copies_ = 0;  // multicast copies of this packet, to stop a storm
  size_t late_ = 0;    // packets that wait in delayed links
  ForwardingTotals totals_;
  absl::flat_hash_map<PortId, FaultLane> faults_;
  uint32_t last_fault_ = 0;
  ObserverList<PacketTap> taps_;
  std::function<void(PortId)> interfered_ = [](PortId) {};
  // Timer tasks may outlive this object: they hold this pointer, which the
  // destructor sets to null.
  std::shared_ptr<Forwarder*> self_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORWARDING_FORWARDER_H_
