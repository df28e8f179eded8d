#include "fabric/agents/pma_port.h"

namespace ibemu::fabric {

PmaPort& PmaOf(NodePort& port) {
  if (!port.pma) port.pma = std::make_unique<PmaPort>();
  return static_cast<PmaPort&>(*port.pma);
}

const PmaPort* FindPma(const NodePort& port) {
  return static_cast<const PmaPort*>(port.pma.get());
}

}  // namespace ibemu::fabric
