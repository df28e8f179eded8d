// The subnet management interface: the steps of directed-route SMPs (class
// 0x81).  IBA vol 1 §14.2.2.
//
// These are pure functions on the packet, which change its hop pointer and
// return path in place.
#ifndef IBEMU_MAD_SMI_H_
#define IBEMU_MAD_SMI_H_

#include <cstdint>

#include "mad/address.h"
#include "mad/wire/mad_header.h"

namespace ibemu::mad {

inline bool IsDirectedRoute(const MadBytes& mad) {
  return wire::Get<&MadHeader::mgmt_class>(mad) ==
         MgmtClass::kSubnetDirectedRoute;
}

// An SmiNode is the node at which a step is decided, as far as the step depends
// on it.
struct SmiNode {
  bool is_switch = false;
  uint8_t port_count = 0;  // external ports
};

// The step that an SMP takes next.
enum class SmiStep {
  kDiscard,      // the path is wrong here
  kDeliver,      // for this node's own SMA or SM
  kForward,      // leaves through port `egress`, whatever its LRH says
  kRouteByLid,   // the directed part ends here: on to `dlid` by LID
  kAsAddressed,  // the directed part has not begun: send by its address
};

// An SmiVerdict is a step with its destination: `egress` of kForward, `dlid` of
// kRouteByLid.
struct SmiVerdict {
  SmiStep step = SmiStep::kDiscard;
  uint8_t egress = 0;
  wire::Lid dlid = wire::Lid::kUnassigned;

  bool operator==(const SmiVerdict&) const = default;
};

// Decides the first step of an SMP that an agent of this node sends through
// `port` (0 on a switch).  On a channel adapter the result is never
// kRouteByLid, and kForward means out of `port`.  Linux refuses kDiscard with
// EINVAL (smi_handle_dr_smp_send).
SmiVerdict SmiSend(MadBytes& smp, SmiNode node, uint8_t port);

// Decides the first step of the answer of a node's SMA to a request that
// arrived at `port`.  It is as that of SmiSend(), but a channel adapter too
// answers by LID if the request came by LID alone (hop count 0, DrSLID not
// permissive).
SmiVerdict SmiAnswer(MadBytes& smp, SmiNode node, uint8_t port);

// Decides the step of an SMP that arrived at `ingress`, which is 0 if it was
// addressed to a switch's LID.  The result is never kAsAddressed.  After
// kDeliver the hop pointer is as agents see it: hop count + 1 in a request, 0
// in an answer.
SmiVerdict SmiReceive(MadBytes& smp, SmiNode node, uint8_t ingress);

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_SMI_H_
