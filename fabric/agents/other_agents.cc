#include "fabric/agents/other_agents.h"

#include "mad/wire/mad_header.h"

namespace ibemu::fabric {

mad::LocalVerdict OtherAgents::Handle(PortId port, const mad::Arrival& request,
                                      mad::MadBytes& reply) {
  switch (wire::Get<&mad::MadHeader::mgmt_class>(request.mad)) {
    case mad::MgmtClass::kCongestionControl:
      return congestion_control_.Handle(port, request, reply);
    case mad::MgmtClass::kMellanox:
      return mellanox_.Handle(port, request, reply);
    default:
      return mad::LocalVerdict::kUnhandled;
  }
}

}  // namespace ibemu::fabric
