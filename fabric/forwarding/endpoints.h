// Endpoints: the receivers of packets at the nodes of the fabric.
#ifndef IBEMU_FABRIC_FORWARDING_ENDPOINTS_H_
#define IBEMU_FABRIC_FORWARDING_ENDPOINTS_H_

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "fabric/agents/node_agents.h"
#include "fabric/forwarding/forwarder.h"
#include "fabric/forwarding/management_service.h"
#include "fabric/forwarding/remote_agents.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/mad_sender.h"
#include "mad/port.h"

namespace ibemu::fabric {

// Receiver of the packets of one node that carry no MADs: those of ordinary
// queue pairs.
class TransportSink {
 public:
  virtual void OnTransport(PortId port, const Packet& packet) = 0;

 protected:
  ~TransportSink() = default;
};

// A channel adapter outside the fabric that takes the place of one of its
// nodes.
class RemoteAdapter {
 public:
  // Takes a packet that came in, as it was on the wire: the hop pointer of an
  // SMP is as the neighbour left it.  Always a single packet (Packet::Count()
  // is 1).
  virtual void OnPacket(PortId port, const Packet& packet) = 0;
  // Takes several packets at once (Packet::Count()), or returns false: then
  // they come one by one.
  virtual bool OnPackets(PortId /*port*/, const Packet& /*packets*/) {
    return false;
  }
  // The subnet manager asks the users of the port to register again.
  virtual void OnReregister(PortId port) = 0;
  // Returns true if it would only ask the node's agents here to answer a
  // SubnGet(), so that it need not see one which they answer.
  virtual bool LeavesReadsToAgents() const { return false; }

 protected:
  ~RemoteAdapter() = default;
};

// The dispatcher of arriving packets: it gives a MAD to the node's own agents,
// then to the management service of the port, then to its listener.  A port
// without a listener behaves like a Linux kernel without agents.  Ports are end
// ports here: those of a CA, or port 0 of a switch.
class Endpoints : public PacketSink, public MadSender {
 public:
  // The references must outlive this object, but `agents`, which send through
  // it, may be constructed after it and end before it.
  Endpoints(Subnet& subnet, Links& links, FabricEvents& events,
            NodeAgents& agents, Timers& timers, uint64_t seed);

  Forwarder& forwarder() { return forwarder_; }

  // Sets the listener of a port.  Not owned; nullptr removes it.
  void SetListener(PortId port, mad::PortListener* listener);

  // Sets the service that is asked before the listener.  Not owned; nullptr
  // removes it.  ServiceAt() returns null if there is none.
  void SetManagementService(PortId port, ManagementService* service);
  ManagementService* ServiceAt(PortId port) const;

  // Sets the receiver of a node's transport packets.  Not owned; nullptr
  // removes it.
  void SetTransportSink(topology::NodeId node, TransportSink* sink);

  // Sets the remote adapter of a node, which must be a channel adapter.  It
  // then gets the packets for the node, instead of the agents and queue pairs
  // here, but for what it leaves to the agents.  Not owned; nullptr removes it.
  void SetRemote(topology::NodeId node, RemoteAdapter* adapter);
  // Returns null if the node has none.
  RemoteAdapter* RemoteOf(topology::NodeId node) const;

  // Sets the agents of a node, which are asked instead of those here.  Not
  // owned; nullptr removes them.  AgentsOf() returns null if there are none.
  void SetAgents(topology::NodeId node, RemoteAgents* agents);
  RemoteAgents* AgentsOf(topology::NodeId node) const;

  // Checks that every queue pair makes.  AdmitByPKey() returns the index of the
  // P_Key that admits the packet; if there is none, it counts a violation and
  // returns -1.  IsForUs() returns true if the destination GID is one of the
  // port's or a multicast GID.  OnBadPKey() and OnBadQKey() count a violation,
  // and the node's agents tell the subnet manager.
  int AdmitByPKey(PortId port, const Packet& packet);
  void OnBadPKey(PortId port, const Packet& packet);
  bool IsForUs(PortId port, const RouteHeader& grh) const;
  void OnBadQKey(PortId port, const Packet& packet);
  // The same of packets that came to the port's adapter elsewhere.
  void OnBadKey(PortId port, const mad::BadKey& bad);
  wire::Gid GidAt(PortId port, int index) const;

  // Asks the node's own agents, then the management service.
  mad::LocalVerdict ProcessLocal(PortId port, const mad::Arrival& request,
                                 mad::MadBytes& reply);

  // Implements mad::Port::Transmit().
  absl::Status Transmit(PortId from, const mad::Outgoing& packet);
  void SendMad(PortId from, const mad::Outgoing& packet) override;

  void OnPacket(PortId ingress, const Packet& packet) override;
  void OnEnforcedPKey(PortId port, const Packet& packet) override;

 private:
  void HandOut(PortId port, const Packet& packet);
  // Has the agents of a node with a remote adapter answer a SubnGet().  Returns
  // false if the packet is none, or not for them.
  bool AnswerRead(PortId ingress, const Packet& packet);
  void OnSmp(PortId ingress, const Packet& packet);
  void OnGmp(PortId port, const Packet& packet);
  // Fills in arrival.grh.  Returns false if the destination GID is not the
  // port's.
  bool TakeGrh(const NodePort& port, const Packet& packet,
               mad::Arrival& arrival) const;
  // Sends an answer, subject to the faults of the node's agents.
  void Answer(PortId ingress, const mad::Arrival& request,
              mad::MadBytes& reply);
  void AnswerSmp(PortId ingress, const mad::Arrival& request,
                 mad::MadBytes& reply);
  void AnswerGmp(PortId port, const mad::Arrival& request,
                 const mad::MadBytes& reply);
  // Gives a MAD to the listener, or does what the kernel does without agents.
  // Returns true if `reply` is an answer.
  bool HandUp(PortId port, const mad::Arrival& arrival, mad::MadBytes& reply);

  Subnet& subnet_;
  NodeAgents& agents_;
  Forwarder forwarder_;
  absl::flat_hash_map<PortId, mad::PortListener*> listeners_;
  absl::flat_hash_map<PortId, ManagementService*> services_;
  absl::flat_hash_map<topology::NodeId, TransportSink*> transport_sinks_;
  absl::flat_hash_map<topology::NodeId, RemoteAdapter*> remotes_;
  absl::flat_hash_map<topology::NodeId, RemoteAgents*> remote_agents_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORWARDING_ENDPOINTS_H_
