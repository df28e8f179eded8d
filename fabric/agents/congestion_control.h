// The congestion control agent, management class 0x21: IBA vol 1 annex A10.
#ifndef IBEMU_FABRIC_AGENTS_CONGESTION_CONTROL_H_
#define IBEMU_FABRIC_AGENTS_CONGESTION_CONTROL_H_

#include <memory>
#include <span>

#include "absl/container/flat_hash_map.h"
#include "base/timers.h"
#include "fabric/subnet/subnet.h"
#include "mad/address.h"
#include "mad/port.h"
#include "mad/wire/congestion.h"

namespace ibemu::fabric {

// The agent that stores what a congestion manager sets, for each port of an
// adapter and for each switch.  Simulated links do not congest, so the settings
// have no effect and the congestion logs stay empty.
class CongestionControl {
 public:
  // The length of an adapter's congestion control table, in blocks of 64
  // entries.
  static constexpr int kTableBlocks = 4;

  CongestionControl(Subnet& subnet, Timers& timers);
  ~CongestionControl();

  // Answers Get and Set.  A request with a wrong CC_Key gets no answer:
  // kConsumed.
  mad::LocalVerdict Handle(PortId port, const mad::Arrival& request,
                           mad::MadBytes& reply);

 private:
  struct State;
  State& StateOf(PortId port);
  bool KeyFits(State& state, const mad::CongestionHeader& header);
  uint32_t Timestamp() const;
  mad::MadStatus Get(PortId port, const mad::CongestionHeader& header,
                     std::span<std::byte> mad);
  mad::MadStatus Set(PortId port, const mad::CongestionHeader& header,
                     std::span<std::byte> mad);

  Subnet& subnet_;
  Timers& timers_;
  const absl::Time start_;
  absl::flat_hash_map<PortId, std::unique_ptr<State>> states_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_CONGESTION_CONTROL_H_
