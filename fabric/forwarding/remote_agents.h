// RemoteAgents: the agents of a node that is another fabric's.
#ifndef IBEMU_FABRIC_FORWARDING_REMOTE_AGENTS_H_
#define IBEMU_FABRIC_FORWARDING_REMOTE_AGENTS_H_

#include <string_view>

#include "fabric/subnet/node.h"
#include "mad/address.h"
#include "mad/port.h"

namespace ibemu::fabric {

// The RemoteAgents of a node (SMA, PMA and the others) are where its subnet is:
// in another fabric, of which it is a node, too.
class RemoteAgents {
 public:
  // As mad::Port::ProcessLocal().
  virtual mad::LocalVerdict Process(PortId port, const mad::Arrival& request,
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
