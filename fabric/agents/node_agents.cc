#include "fabric/agents/node_agents.h"

#include "mad/wire/mad_header.h"

namespace ibemu::fabric {

mad::LocalVerdict NodeAgents::Handle(PortId port, const mad::Arrival& request,
                                     mad::MadBytes& reply) {
  switch (wire::Get<&mad::MadHeader::mgmt_class>(request.mad)) {
    case mad::MgmtClass::kSubnetLidRouted:
    case mad::MgmtClass::kSubnetDirectedRoute:
      return sma_.Handle(port, request, reply);
    case mad::MgmtClass::kPerformance:
      return pma_.Handle(port, request, reply);
    default:
      return other_agents_.Handle(port, request, reply);
  }
}

}  // namespace ibemu::fabric
