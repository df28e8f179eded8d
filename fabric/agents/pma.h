// The performance management agent: IBA vol 1 chapter 16.1.
#ifndef IBEMU_FABRIC_AGENTS_PMA_H_
#define IBEMU_FABRIC_AGENTS_PMA_H_

#include <optional>

#include "base/timers.h"
#include "fabric/agents/pma_attributes.h"
#include "fabric/subnet/subnet.h"
#include "mad/address.h"
#include "mad/port.h"

namespace ibemu::fabric {

// Answers for every port of every node.
class Pma {
 public:
  Pma(Subnet& subnet, Timers& timers) : subnet_(subnet), timers_(timers) {}

  // A MAD of class PerfMgt arrived at `port` (port 0 of a switch).  Answers
  // Get and Set.
  mad::LocalVerdict Handle(PortId port, const mad::Arrival& request,
                           mad::MadBytes& reply);

 private:
  mad::MadStatus Answer(PortId port, const mad::MadHeader& header,
                        std::span<std::byte> data);
  mad::MadStatus AnswerSamples(PortId port, const mad::MadHeader& header,
                               std::span<std::byte> data);
  // What PortSelect of a MAD to `port` means; none: nothing.  An adapter takes
  // 0 for the port that was asked, as mlx5 does.
  std::optional<PmaSelection> Select(PortId port, uint8_t port_select);

  Subnet& subnet_;
  Timers& timers_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_PMA_H_
