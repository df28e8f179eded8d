// MellanoxAgent: the vendor class of Mellanox devices, 0x0a, as vendstat
// queries it.
#ifndef IBEMU_FABRIC_AGENTS_MELLANOX_AGENT_H_
#define IBEMU_FABRIC_AGENTS_MELLANOX_AGENT_H_

#include <array>
#include <cstdint>
#include <span>

#include "absl/container/flat_hash_map.h"
#include "base/timers.h"
#include "fabric/subnet/subnet.h"
#include "mad/address.h"
#include "mad/port.h"
#include "mad/wire/mad_header.h"

namespace ibemu::fabric {

// The agent of nodes whose vendor is Mellanox.  It does not handle MADs to
// other nodes.
class MellanoxAgent {
 public:
  MellanoxAgent(Subnet& subnet, Timers& timers)
      : subnet_(subnet), timers_(timers), start_(timers.Now()) {}

  mad::LocalVerdict Handle(PortId port, const mad::Arrival& request,
                           mad::MadBytes& reply);

 private:
  using GroupSelects = std::array<uint32_t, 2>;

  mad::MadStatus Answer(const Node& node, const mad::MadHeader& header,
                        std::span<std::byte> data);
  void ShowGeneralInfo(const Node& node, std::span<std::byte> data) const;
  void ReadConfigSpace(const Node& node, uint32_t modifier,
                       std::span<std::byte> data) const;

  Subnet& subnet_;
  Timers& timers_;
  const absl::Time start_;
  absl::flat_hash_map<PortId, GroupSelects> groups_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_MELLANOX_AGENT_H_
