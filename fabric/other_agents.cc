#include "fabric/other_agents.h"

namespace ibemu::fabric {

mad::LocalVerdict OtherAgents::Handle(PortId, const mad::Arrival&,
                                      mad::MadBytes&) {
  return mad::LocalVerdict::kUnhandled;
}

}  // namespace ibemu::fabric
