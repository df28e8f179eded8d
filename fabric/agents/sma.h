// Sma: the subnet management agent of every node, IBA vol 1 chapter 14.2.
#ifndef IBEMU_FABRIC_AGENTS_SMA_H_
#define IBEMU_FABRIC_AGENTS_SMA_H_

#include "base/timers.h"
#include "fabric/agents/sma_notices.h"
#include "fabric/agents/traps.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/mad_sender.h"
#include "fabric/subnet/subnet.h"
#include "mad/address.h"
#include "mad/port.h"
#include "mad/wire/smp.h"

namespace ibemu::fabric {

// The agent of all nodes: it checks SMPs and their M_Keys, and gives each to
// its attribute.
class Sma {
 public:
  Sma(Subnet& subnet, Links& links, FabricEvents& events, MadSender& sender,
      Timers& timers);

  // Handles an SMP for the node of `port`, the port at which it came in: any
  // port of a switch, port 0 if it is from the switch's own host.
  // `request.mad` is as the sender's SMA gets it, with complete paths; the
  // reply to a directed-route SMP has the D bit set and the same hop pointer.
  // kConsumed: the M_Key is wrong, or the SMP represses a trap.  kUnhandled:
  // SMInfo, responses, traps and others that belong to a subnet manager.
  mad::LocalVerdict Handle(PortId port, const mad::Arrival& request,
                           mad::MadBytes& reply);

  // The events of nodes that come from elsewhere than an SMP.
  SmaNotices& notices() { return notices_; }

 private:
  // Returns true if the M_Key permits the SMP (§14.2.4); else counts a
  // violation.
  bool PassesMKey(NodePort& port, const mad::Arrival& request);

  Subnet& subnet_;
  Links& links_;
  FabricEvents& events_;
  Timers& timers_;
  Traps traps_;
  SmaNotices notices_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_SMA_H_
