// Carries packets: over links, through switches, to the ports they are for.
#ifndef IBEMU_FABRIC_FORWARDING_FORWARDER_H_
#define IBEMU_FABRIC_FORWARDING_FORWARDER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/observer_list.h"
#include "base/timers.h"
#include "fabric/faults/fault_lane.h"
#include "fabric/forwarding/flight_queue.h"
#include "fabric/forwarding/packet_tap.h"
#include "fabric/packet/packet.h"
#include "fabric/subnet/events.h"
#include "fabric/subnet/fabric_watcher.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// Where the way of a packet ends.
class PacketSink {
 public:
  virtual ~PacketSink() = default;

  // A packet for the node of `ingress`, where it came in: any port of a switch.
  // A directed-route SMP has its hop pointer as agents see it.
  virtual void OnPacket(PortId ingress, const Packet& packet) = 0;

  // A switch dropped a packet at `port` because of its P_Key.
  virtual void OnEnforcedPKey(PortId port, const Packet& packet) = 0;
};

// A link takes no time and a packet crosses the fabric in one go, unless a
// fault lane on its way wants otherwise.  Packets cross in the order they were
// sent; when there are many, other tasks and timers have their turn in between.
class Forwarder {
 public:
  Forwarder(Subnet& subnet, Links& links, FabricEvents& events, Timers& timers,
            PacketSink& sink, uint64_t seed);
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;
  ~Forwarder();

  // Takes a packet on its way; nothing happens before this returns.
  void Send(Flight::Step step, PortId port, const Packet& packet);

  // Sends a packet by its addresses from an end port (a switch's port 0).
  void SendByAddress(PortId from, const Packet& packet);

  // Calls `task` when the packets under way have come to rest, at the latest
  // when others have their turn.
  void AfterDelivery(Timers::Task task);

  // From now on, and until RemoveFault(), this too goes wrong with what leaves
  // through `port`.
  FaultId AddFault(PortId port, const LinkFaults& faults,
                   const FaultChance& chance);
  // Both require that the fault is there.
  void RemoveFault(FaultId fault);
  const FaultCounts& CountsOf(FaultId fault) const;

  // Not owned; costs nothing while there are none.
  void AddTap(PacketTap& tap) { taps_.Add(tap); }
  void RemoveTap(const PacketTap& tap) { taps_.Remove(tap); }

  const ForwardingTotals& totals() const { return totals_; }

 private:
  void Schedule();
  void Drain();
  // From hop to hop, until the packet is delivered, dropped or delayed.
  void Walk(Flight& flight);

  void Carry(Flight& flight, PortId ingress, PortId egress);

  // From flight.port to the other end of its link.  False: it is not there
  // now; what became of it is settled.  `ingress`: where it entered the node.
  bool CrossLink(Flight& flight, PortId ingress);
  bool CrossOneByOne(const Flight& train, PortId ingress);
  void Show(const Flight& flight, const NodePort& out);
  bool PassFaults(const Flight& flight, const NodePort& out);
  void ArriveLater(const Flight& flight, const NodePort& out,
                   absl::Time arrival);

  // What a node does with a packet.  The result is the port to leave through,
  // or kNoPort: the way ends here.
  PortId Enter(Flight& flight);
  PortId TakeAtEnd(PortId port, const Node& node, Packet& packet);
  PortId EnterSwitch(PortId ingress, const Node& node, Flight& flight);
  PortId TakeDirected(PortId ingress, const Node& node, Flight& flight);
  PortId RouteByLid(PortId ingress, const Node& node, Flight& flight);
  void Replicate(PortId ingress, const Node& node, const Flight& flight);
  PortId Deliver(PortId ingress, const Packet& packet);

  // The end of a packet; the port has counted it, where ports do.
  bool Drop(DropCause cause, PortId port, const Packet& packet,
            uint32_t fault = 0);                                     // false
  PortId NoWay(DropCause cause, PortId port, const Packet& packet);  // kNoPort

  Subnet& subnet_;
  Links& links_;
  FabricEvents& events_;
  Timers& timers_;
  PacketSink& sink_;
  const uint64_t seed_;

  FlightQueue queue_;
  std::vector<Timers::Task> after_delivery_;
  bool scheduled_ = false;
  size_t copies_ = 0;  // of the packet under way: a storm ends
  size_t late_ = 0;    // packets that wait in delayed links
  ForwardingTotals totals_;
  absl::flat_hash_map<PortId, FaultLane> faults_;
  uint32_t last_fault_ = 0;
  ObserverList<PacketTap> taps_;
  // Tasks that outlive this object look here first.
  std::shared_ptr<Forwarder*> self_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORWARDING_FORWARDER_H_
