// The simulated subnet.
#ifndef IBEMU_FABRIC_FABRIC_H_
#define IBEMU_FABRIC_FABRIC_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/timers.h"
#include "fabric/faults/agent_faults.h"
#include "fabric/faults/fault_lane.h"
#include "fabric/subnet/port_counters.h"
#include "mad/device.h"
#include "topology/topology.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

enum class PortId : uint32_t;
class FabricWatcher;
class Links;
class PacketTap;
class RemoteAdapter;
struct Packet;
class Subnet;
class SubnetManager;

struct FabricOptions {
  uint64_t seed = 0;
};

// Owns every node, port and link.  Runs on the loop thread.
class Fabric {
 public:
  Fabric(const topology::Topology& topology, Timers& timers,
         const FabricOptions& options);
  ~Fabric();

  size_t node_count() const;
  uint64_t seed() const;

  // Every node and port as it is now.  Who changes something through the second
  // one changes it as a SubnSet would, without its checks.
  const Subnet& subnet() const;
  Subnet& subnet();
  Links& links();

  // What has crossed the fabric since its start.
  const ForwardingTotals& totals() const;

  // By description, name of the topology file, or GUID ("0x..."), in this
  // order.
  //
  // Errors: NotFound, naming the closest node ("did you mean ...").
  absl::StatusOr<topology::NodeId> Find(std::string_view node) const;

  // The node as a host sees it.  Lives as long as the fabric, also while the
  // adapter is pulled out: whoever uses it was told of that.
  mad::Device& device(topology::NodeId node);

  // The verbs of the node, which must be a channel adapter.  Lives as long as
  // somebody listens to it, and until the adapter is pulled out.
  verbs::Provider& provider(topology::NodeId node);

  // Lets an adapter elsewhere be this node, a channel adapter: it gets what
  // comes for the node, and sends what the node sends.  The node's own agents
  // answer it alone, through device(node).port(n).ProcessLocal().  Its ports
  // are down until SetPort().  Not owned; nullptr makes it an ordinary node
  // again, as after power-on.
  //
  // Errors: FailedPrecondition when it is no channel adapter, has such an
  // adapter already, or is where the subnet manager of --sm=builtin runs.
  absl::Status SetRemote(topology::NodeId node, RemoteAdapter* adapter);
  // Sends what SetRemote()'s adapter made, through a port of the node.
  void SendFrom(PortId port, const Packet& packet);
  // Lets a port train, or keeps it down, as its driver wants it.
  void SetPort(PortId port, bool enabled);

  // Cuts or restores the cable at this port; both ends notice.
  //
  // Errors: NotFound when the port has no cable or does not exist.
  absl::Status SetLink(topology::NodeId node, int port, bool up);

  // Plugs a cable into both ports: one that was cut, or a new one.
  //
  // Errors: NotFound when a port does not exist, FailedPrecondition when there
  // is a whole cable in it.
  absl::Status Connect(topology::NodeId node, int port, topology::NodeId peer,
                       int peer_port);

  // Gives a port another LID, and if `lmc` is not negative another LMC, as if
  // it had been configured by hand.  A subnet manager finds out when it sweeps.
  // Requires a switch's port 0 or a port of an adapter.
  void SetLid(PortId port, wire::Lid lid, int lmc);

  // A node that is down is silent, and all its links are cut.
  void SetNode(topology::NodeId node, bool up);

  // Pulls the adapter out of its host, which hears of it before this returns,
  // or plugs it in again: the node is then as after power-on, and the device's
  // listener places are free for a new host.
  //
  // Errors: FailedPrecondition when that is so already, or the adapter is one
  // of SetRemote().
  absl::Status RemoveDevice(topology::NodeId node);
  absl::Status AddDevice(topology::NodeId node);

  // Lets something go wrong with the packets that leave (kTransmit) or enter
  // (kReceive) through this port, until RemoveFault().  What several faults of
  // one link make together: FaultLane.
  //
  // Errors: as SetLink().
  enum class Direction { kTransmit, kReceive };
  absl::StatusOr<FaultId> AddFault(topology::NodeId node, int port,
                                   Direction direction,
                                   const LinkFaults& faults,
                                   const FaultChance& chance = {});

  // Both require that the fault is there.
  void RemoveFault(FaultId fault);
  const FaultCounts& CountsOf(FaultId fault) const;

  // Lets something go wrong with what the agents of this node answer to others:
  // they are late (delay), or silent (loss, corrupt).
  AgentFaultId AddAgentFault(topology::NodeId node, const LinkFaults& faults,
                             const FaultChance& chance = {});
  void RemoveFault(AgentFaultId fault);
  const FaultCounts& CountsOf(AgentFaultId fault) const;

  // Tells `watcher` what happens.  Not owned; costs nothing while there are
  // none.
  void AddWatcher(FabricWatcher& watcher);
  void RemoveWatcher(const FabricWatcher& watcher);

  // Shows `tap` every packet that crosses a link.  Not owned; costs nothing
  // while there are none.
  void AddTap(PacketTap& tap);
  void RemoveTap(const PacketTap& tap);

  // Null without --sm=builtin.
  SubnetManager* subnet_manager();

  // The port's id.  Errors: NotFound when the node has no such external port.
  absl::StatusOr<PortId> FindPort(topology::NodeId node, int port) const;
  // The same of a port with a cable, cut or not.
  absl::StatusOr<PortId> FindCable(topology::NodeId node, int port) const;

 private:
  friend absl::Status ConfigureStatically(Fabric& fabric);
  friend absl::Status StartSubnetManager(Fabric& fabric);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// --sm=static: LIDs (1, 2, ... hosts first, in file order), min-hop tables and
// ACTIVE ports.  From then on a link, node or device that comes back gets its
// part of that again, unless a subnet manager has taken over.
//
// Errors: ResourceExhausted, "needs 70656 LIDs, a subnet has 49151".
absl::Status ConfigureStatically(Fabric& fabric);

// --sm=builtin: the same, by a subnet manager inside the fabric that answers,
// watches over the subnet and hands it over to a better one.
//
// Errors: as ConfigureStatically().
absl::Status StartSubnetManager(Fabric& fabric);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FABRIC_H_
