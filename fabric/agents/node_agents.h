// NodeAgents: the management agents that each node of the fabric has.
#ifndef IBEMU_FABRIC_AGENTS_NODE_AGENTS_H_
#define IBEMU_FABRIC_AGENTS_NODE_AGENTS_H_

#include <cstdint>

#include "base/timers.h"
#include "fabric/agents/other_agents.h"
#include "fabric/agents/pma.h"
#include "fabric/agents/sma.h"
#include "fabric/agents/sma_notices.h"
#include "fabric/faults/agent_faults.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/mad_sender.h"
#include "fabric/subnet/subnet.h"
#include "mad/address.h"
#include "mad/port.h"

namespace ibemu::fabric {

// The agents of all nodes, by management class, and the faults of their
// answers.
class NodeAgents {
 public:
  // The references must outlive this object.
  NodeAgents(Subnet& subnet, Links& links, FabricEvents& events,
             MadSender& sender, Timers& timers, uint64_t seed)
      : sma_(subnet, links, events, sender, timers),
        pma_(subnet, timers),
        other_agents_(subnet, timers),
        faults_(subnet, events, timers, seed) {}

  // Handles a MAD for the node of `port`: an SMP as Sma::Handle() does, others
  // as those of Pma and OtherAgents.
  mad::LocalVerdict Handle(PortId port, const mad::Arrival& request,
                           mad::MadBytes& reply);

  // The events of nodes of which the agents send notices.
  SmaNotices& notices() { return sma_.notices(); }

  // The faults of agents, through which their answers have to go.
  AgentFaults& faults() { return faults_; }

 private:
  Sma sma_;
  Pma pma_;
  OtherAgents other_agents_;
  AgentFaults faults_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_NODE_AGENTS_H_
