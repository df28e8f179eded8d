// Pma: the performance management agent, IBA vol 1 chapter 16.1.
#ifndef IBEMU_FABRIC_AGENTS_PMA_H_
#define IBEMU_FABRIC_AGENTS_PMA_H_

#include <optional>

#include "base/timers.h"
#include "fabric/agents/pma_attributes.h"
#include "fabric/subnet/subnet.h"
#include "mad/address.h"
#include "mad/port.h"

namespace ibemu::fabric {

// The agent of every port of every node.
class Pma {
 public:
  Pma(Subnet& subnet, Timers& timers) : subnet_(subnet), timers_(timers) {}

  // Answers a Get or Set of class PerfMgt that arrived at `port` (on a switch:
  // port 0).
  mad::LocalVerdict Handle(PortId port, const mad::Arrival& request,
                           mad::MadBytes& reply);

 private:
  mad::MadStatus Answer(PortId port, const mad::MadHeader& header,
                        std::span<std::byte> data);
  mad::MadStatus AnswerSamples(PortId port, const mad::MadHeader& header,
                               std::span<std::byte> data);
  // Returns the ports that the PortSelect of a MAD to `port` stands for;
  // nullopt if it is invalid.  On an adapter, 0 stands for the port that was
  // asked, as on mlx5.
  std::optional<PmaSelection> Select(PortId port, uint8_t port_select);

  Subnet& subnet_;
  Timers& timers_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_PMA_H_
