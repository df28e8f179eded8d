// The ends of the fabric's packets: queue pairs 0 and 1 of every node.
#ifndef IBEMU_FABRIC_FORWARDING_ENDPOINTS_H_
#define IBEMU_FABRIC_FORWARDING_ENDPOINTS_H_

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "fabric/agents/other_agents.h"
#include "fabric/agents/pma.h"
#include "fabric/agents/sma.h"
#include "fabric/faults/agent_faults.h"
#include "fabric/forwarding/forwarder.h"
#include "fabric/forwarding/management_service.h"
#include "fabric/subnet/events.h"
#include "mad/port.h"

namespace ibemu::fabric {

// Takes packets of queue pairs that carry no MADs.
class TransportSink {
 public:
  virtual void OnTransport(PortId port, const Packet& packet) = 0;

 protected:
  ~TransportSink() = default;
};

// An adapter that is not in the fabric, but is one of its nodes.
class RemoteAdapter {
 public:
  // What came in, as it was on the wire: an SMP's hop pointer is as the
  // neighbour left it.  Never a train.
  virtual void OnPacket(PortId port, const Packet& packet) = 0;

 protected:
  ~RemoteAdapter() = default;
};

// Gives what arrives to the node's own agents, then to the listener of the
// port.  A node without a listener behaves as a Linux kernel without agents.
// Ports are end ports here: of a CA, or port 0 of a switch.
class Endpoints : public PacketSink, public MadSender {
 public:
  Endpoints(Subnet& subnet, Links& links, FabricEvents& events, Timers& timers,
            uint64_t seed);

  Sma& sma() { return sma_; }
  Forwarder& forwarder() { return forwarder_; }
  AgentFaults& agent_faults() { return agent_faults_; }

  // Not owned; nullptr takes it away.
  void SetListener(PortId port, mad::PortListener* listener);

  // The same for what comes before the listener; null where there is none.
  void SetManagementService(PortId port, ManagementService* service);
  ManagementService* ServiceAt(PortId port) const;

  // Of a node; not owned, nullptr takes it away.
  void SetTransportSink(topology::NodeId node, TransportSink* sink);

  // Of a channel adapter, which then gets all packets for the node, instead of
  // its agents and queue pairs; not owned, nullptr takes it away.
  void SetRemote(topology::NodeId node, RemoteAdapter* adapter);

  // What every queue pair asks of a packet: the index of the P_Key that lets it
  // in, else it is counted and -1; whether its global destination is ours, a
  // group included.
  int AdmitByPKey(PortId port, const Packet& packet);
  bool IsForUs(PortId port, const RouteHeader& grh) const;
  void OnBadQKey(PortId port, const Packet& packet);
  wire::Gid GidAt(PortId port, int index) const;

  // The node's own agents, then the service.
  mad::LocalVerdict ProcessLocal(PortId port, const mad::Arrival& request,
                                 mad::MadBytes& reply);

  // mad::Port::Transmit.
  absl::Status Transmit(PortId from, const mad::Outgoing& packet);
  void SendMad(PortId from, const mad::Outgoing& packet) override;

  void OnPacket(PortId ingress, const Packet& packet) override;
  void OnEnforcedPKey(PortId port, const Packet& packet) override;

 private:
  void HandOut(PortId port, const Packet& packet);
  void OnSmp(PortId ingress, const Packet& packet);
  void OnGmp(PortId port, const Packet& packet);
  // False: the global destination is not ours.
  bool TakeGrh(const NodePort& port, const Packet& packet,
               mad::Arrival& arrival) const;
  // Past the faults of the node's agents.
  void Answer(PortId ingress, const mad::Arrival& request,
              mad::MadBytes& reply);
  mad::LocalVerdict AskAgents(PortId port, const mad::Arrival& request,
                              mad::MadBytes& reply);
  void AnswerSmp(PortId ingress, const mad::Arrival& request,
                 mad::MadBytes& reply);
  void AnswerGmp(PortId port, const mad::Arrival& request,
                 const mad::MadBytes& reply);
  // The listener, or what the kernel does without agents: true if `reply` is an
  // answer.
  bool HandUp(PortId port, const mad::Arrival& arrival, mad::MadBytes& reply);

  Subnet& subnet_;
  Sma sma_;
  Pma pma_;
  OtherAgents other_agents_;
  Forwarder forwarder_;
  AgentFaults agent_faults_;
  absl::flat_hash_map<PortId, mad::PortListener*> listeners_;
  absl::flat_hash_map<PortId, ManagementService*> services_;
  absl::flat_hash_map<topology::NodeId, TransportSink*> transport_sinks_;
  absl::flat_hash_map<topology::NodeId, RemoteAdapter*> remotes_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORWARDING_ENDPOINTS_H_
