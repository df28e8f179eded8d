// The attributes of switches in the subnet management agent.
#ifndef IBEMU_FABRIC_AGENTS_SMA_SWITCH_H_
#define IBEMU_FABRIC_AGENTS_SMA_SWITCH_H_

#include "fabric/agents/sma_request.h"
#include "mad/wire/mad_header.h"

namespace ibemu::fabric {

// SwitchInfo, LinearForwardingTable and MulticastForwardingTable, IBA vol 1
// §14.2.5.4, .10 and .12.  Other nodes do not support them.  See SmaRequest.
mad::MadStatus SmaSwitchInfo(const SmaRequest& request);
mad::MadStatus SmaLinearForwardingTable(const SmaRequest& request);
mad::MadStatus SmaMulticastForwardingTable(const SmaRequest& request);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_SMA_SWITCH_H_
