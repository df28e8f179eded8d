// Fabric: the simulated subnet.
#ifndef IBEMU_FABRIC_FABRIC_H_
#define IBEMU_FABRIC_FABRIC_H_

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/timers.h"
#include "fabric/faults/agent_faults.h"
#include "fabric/faults/fault_lane.h"
#include "fabric/subnet/port_counters.h"
#include "mad/device.h"
#include "topology/topology.h"
#include "verbs/provider.h"

namespace ibemu::mad {
struct BadKey;
}

namespace ibemu::fabric {

enum class PortId : uint32_t;
struct AdapterFaults;
class FabricWatcher;
class Forwarder;
class Hca;
class Links;
class QueuePairHistories;
class RemoteAdapter;
class RemoteAgents;
struct Packet;
struct PortCopy;
class Subnet;
class SubnetManager;
class SweepHistory;

// A FabricOptions is what a fabric is made with beside its topology.  From
// `seed` comes all that is random in it.
struct FabricOptions {
  uint64_t seed = 0;
};

// The owner of every node, port and link.  Not thread-safe: all calls are made
// on the loop thread.
class Fabric {
 public:
  Fabric(const topology::Topology& topology, Timers& timers,
         const FabricOptions& options);
  ~Fabric();

  size_t node_count() const;
  uint64_t seed() const;

  // Returns every node and port as it is now.  A change through the non-const
  // reference acts like a Set by SMP, but without its checks.
  const Subnet& subnet() const;
  Subnet& subnet();
  Links& links();

  // Returns what happened to the queue pairs of all adapters.
  const QueuePairHistories& histories() const;
  QueuePairHistories& histories();

  // Returns when the subnet managers swept.
  const SweepHistory& sweeps() const;

  // Returns the packet totals since the fabric's start.
  const ForwardingTotals& totals() const;

  // Finds a node by its description (without blanks and line ends that follow
  // it), its name in the topology file, the description it had there, or a GUID
  // ("0x..."), in this order; then by the name of a host that has one adapter,
  // as FindHost() does.
  //
  // Errors: NotFound, naming the closest node ("did you mean ...");
  // InvalidArgument if there are several, naming them.
  absl::StatusOr<topology::NodeId> Find(std::string_view node) const;

  // Finds the same node, or all adapters of a host: those whose descriptions
  // are the host's name and one more word, as Linux makes them ("srv9 mlx5_0").
  //
  // Errors: as Find(), but a host may have several adapters.
  absl::StatusOr<std::vector<topology::NodeId>> FindHost(
      std::string_view node) const;

  // Returns the node as a host sees it.  The device lives as long as the
  // fabric, even while the adapter is pulled out; its listener is told of that.
  mad::Device& device(topology::NodeId node);

  // Returns the verbs of the node, which must be a channel adapter.  The
  // provider lives until the adapter is pulled out, and after that as long as
  // it has a listener.
  verbs::Provider& provider(topology::NodeId node);

  // Returns the software adapter behind provider(), or null if it was never
  // asked for, or is pulled out.
  Hca* FindHca(topology::NodeId node) const;
  // Returns the faults of all software adapters.
  AdapterFaults& adapter_faults();

  // Lets a remote adapter take the place of this node, a channel adapter: it
  // gets the packets for the node and sends the node's packets.  Unless it
  // leaves reads to the node's own agents (LeavesReadsToAgents()), it alone
  // gets their answers, through device(node).port(n).ProcessLocal().  Its ports
  // are down until SetPort(). Not owned; nullptr makes the node an ordinary one
  // again, as after power-on.
  //
  // Errors: CheckRemote()'s.
  absl::Status SetRemote(topology::NodeId node, RemoteAdapter* adapter);
  // Returns why no remote adapter may take the place of this node now.
  //
  // Errors: FailedPrecondition if the node is not a channel adapter, or is
  // where the subnet manager of --sm=builtin runs; AlreadyExists if it has a
  // remote adapter.
  absl::Status CheckRemote(topology::NodeId node) const;
  // Sends a packet that the remote adapter made, through a port of its node.
  void SendFrom(PortId port, const Packet& packet);
  // Lets a port of a remote adapter train, or keeps it down, as its driver
  // wants.
  void SetPort(PortId port, bool enabled);
  // Packets with a wrong key have come to a remote adapter: its port counts
  // them, and tells the subnet manager.
  void OnBadKey(PortId port, const mad::BadKey& bad);

  // Makes a node stand for one of another fabric, whose agents are there:
  // `agents` gets the MADs for them.  `adapter` is what is beyond its cables:
  // it gets the packets that leave the node.  Both nodes are channel adapters,
  // with a cable between ports of the same number; SendFrom(), through a port
  // of `beyond`, brings packets to the node.  Not owned; nullptr ends it.
  void SetBeyond(topology::NodeId node, RemoteAgents* agents,
                 topology::NodeId beyond, RemoteAdapter* adapter);
  // Makes a port of such a node what it is in the other fabric.
  void SetCopy(PortId port, const PortCopy& copy);
  // The other fabric's manager asks the users of the port to register again.
  void AskToReregister(PortId port);

  // Cuts or restores the cable at this port; both ends notice.  `fault`: the
  // number of the fault that cuts it, from NewFaultNumber(); 0: it is none.
  //
  // Errors: NotFound if the port does not exist or has no cable.
  absl::Status SetLink(topology::NodeId node, int port, bool up,
                       uint32_t fault = 0);
  uint32_t NewFaultNumber();
  // Returns the fault that has cut the port's cable; 0: none has.
  uint32_t CutBy(PortId port) const;

  // Plugs a cable into both ports: the one that was cut, or a new one.
  //
  // Errors: NotFound if a port does not exist, FailedPrecondition if one of
  // them has an intact cable.
  absl::Status Connect(topology::NodeId node, int port, topology::NodeId peer,
                       int peer_port);

  // Gives a port another LID and, if `lmc` is not negative, another LMC, as if
  // it had been configured by hand.  A subnet manager notices at its next
  // sweep.  REQUIRES: `port` is port 0 of a switch or a port of an adapter.
  void SetLid(PortId port, wire::Lid lid, int lmc);

  // Tells the watchers of what somebody changed by hand, through subnet() or
  // SetLid(): the GUID of a port or its node, or a LID.
  void OnHardwareChange(PortId port);

  // Switches a node on or off.  A node that is off is silent, and all its links
  // are down.
  void SetNode(topology::NodeId node, bool up);

  // Pulls the adapter out of its host, or plugs it in again.  RemoveDevice()
  // tells the host before it returns.  After AddDevice() the node is as after
  // power-on, and the listener places of its device are free for a new host.
  //
  // Errors: FailedPrecondition if the adapter is already removed or present, or
  // if it is a remote one (SetRemote()).
  absl::Status RemoveDevice(topology::NodeId node);
  absl::Status AddDevice(topology::NodeId node);

  // Adds a fault to the packets that leave (kTransmit) or enter (kReceive)
  // through this port, until RemoveFault().  FaultLane says how several faults
  // of one link combine.
  //
  // Errors: as SetLink().
  enum class Direction { kTransmit, kReceive };
  absl::StatusOr<FaultId> AddFault(topology::NodeId node, int port,
                                   Direction direction,
                                   const LinkFaults& faults,
                                   const FaultChance& chance = {});

  // REQUIRES: the fault was added and not removed.
  void RemoveFault(FaultId fault);
  const FaultCounts& CountsOf(FaultId fault) const;

  // Adds a fault to the answers that this node's agents send to others: delay
  // makes them late, loss and corruption drop them.
  AgentFaultId AddAgentFault(topology::NodeId node, const LinkFaults& faults,
                             const FaultChance& chance = {});
  void RemoveFault(AgentFaultId fault);
  const FaultCounts& CountsOf(AgentFaultId fault) const;

  // Adds an observer of what happens.  Not owned.  There is no cost while there
  // is none.
  void AddWatcher(FabricWatcher& watcher);
  void RemoveWatcher(const FabricWatcher& watcher);

  // Returns the part that moves packets: for taps, and for packets that cross
  // paths of the fabric elsewhere.
  Forwarder& forwarder();

  // Returns null without --sm=builtin.
  SubnetManager* subnet_manager();

  // Returns the port's id.
  //
  // Errors: NotFound if the node has no such external port.
  absl::StatusOr<PortId> FindPort(topology::NodeId node, int port) const;
  // The same for a port with a cable, intact or cut.  Errors: also NotFound if
  // it has no cable.
  absl::StatusOr<PortId> FindCable(topology::NodeId node, int port) const;

 private:
  friend absl::Status ConfigureStatically(Fabric& fabric);
  friend absl::Status StartSubnetManager(Fabric& fabric);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Configures the subnet once, for --sm=static: LIDs (1, 2, ... hosts first, in
// file order), min-hop tables and ACTIVE ports.  From then on a link, node or
// device that comes back gets its configuration again, unless a subnet manager
// has taken over.
//
// Errors: ResourceExhausted, "needs 70656 LIDs, a subnet has 49151".
absl::Status ConfigureStatically(Fabric& fabric);

// Starts the subnet manager of --sm=builtin: it configures the subnet in the
// same way, answers requests, watches over the subnet, and hands it over to a
// manager that outranks it.
//
// Errors: as ConfigureStatically().
absl::Status StartSubnetManager(Fabric& fabric);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FABRIC_H_
