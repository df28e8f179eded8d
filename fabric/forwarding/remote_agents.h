// RemoteAgents: the interface to the agents of a node that is in another
// fabric, too.
#ifndef IBEMU_FABRIC_FORWARDING_REMOTE_AGENTS_H_
#define IBEMU_FABRIC_FORWARDING_REMOTE_AGENTS_H_

#include <optional>
#include <string_view>

#include "fabric/subnet/node.h"
#include "mad/address.h"
#include "mad/port.h"

namespace ibemu::fabric {

// A RemoteAgents stands for the agents (SMA, PMA and the others) of a node that
// is in two fabrics: its adapter is in this one, and its agents are in the
// other, where its subnet is.
class RemoteAgents {
 public:
  // As mad::Port::ProcessLocal().  No value while they can't be reached: then
  // the agents here answer, as those of an adapter do whose link is down.
  virtual std::optional<mad::LocalVerdict> Process(PortId port,
                                                   const mad::Arrival& request,
                                                   mad::MadBytes& reply) = 0;
  // As mad::Port::SetIsSm().
  virtual void SetIsSm(PortId port, bool is_sm) = 0;
  // As mad::Device::SetNodeDescription(); here it has changed already.
  virtual void OnDescription(std::string_view text) = 0;
  // Packets with a wrong key have come to the port: the agents count them, and
  // tell the subnet manager.  The port here has the count when it is next made
  // a copy of theirs.
  virtual void OnBadKey(PortId port, const mad::BadKey& bad) = 0;

 protected:
  ~RemoteAgents() = default;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORWARDING_REMOTE_AGENTS_H_
