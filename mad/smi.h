// The subnet management interface: how directed-route SMPs (class 0x81) take
// their next step.  IBA vol 1 §14.2.2.
//
// Pure functions on the packet; hop pointer and return path change in place.
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

struct SmiNode {
  bool is_switch = false;
  uint8_t port_count = 0;  // external ports
};

enum class SmiStep {
  kDiscard,      // the path is wrong here
  kDeliver,      // for this node's own SMA or SM
  kForward,      // leaves through port `egress`, whatever its LRH says
  kRouteByLid,   // the directed part ends here: on to `dlid` by LID
  kAsAddressed,  // the directed part has not begun: send by its address
};

struct SmiVerdict {
  SmiStep step = SmiStep::kDiscard;
  uint8_t egress = 0;
  wire::Lid dlid = wire::Lid::kUnassigned;

  bool operator==(const SmiVerdict&) const = default;
};

// An SMP that an agent of this node sends through `port` (a switch: 0).  The
// result is never kRouteByLid on a channel adapter, and kForward there means
// `port`.  Linux refuses kDiscard with EINVAL (smi_handle_dr_smp_send).
SmiVerdict SmiSend(MadBytes& smp, SmiNode node, uint8_t port);

// The answer of a node's SMA to a request that it got at `port`.  As SmiSend(),
// and a channel adapter too answers by LID where the request came by LID alone
// (hop count 0, DrSLID not permissive).
SmiVerdict SmiAnswer(MadBytes& smp, SmiNode node, uint8_t port);

// An SMP that arrived at `ingress`; 0 when it was addressed to a switch's LID.
// Never kAsAddressed.  kDeliver leaves the hop pointer as agents see it: hop
// count + 1 in a request, 0 in an answer.
SmiVerdict SmiReceive(MadBytes& smp, SmiNode node, uint8_t ingress);

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_SMI_H_
