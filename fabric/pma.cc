#include "fabric/pma.h"

namespace ibemu::fabric {

mad::LocalVerdict Pma::Handle(PortId, const mad::Arrival&, mad::MadBytes&) {
  return mad::LocalVerdict::kUnhandled;
}

}  // namespace ibemu::fabric
