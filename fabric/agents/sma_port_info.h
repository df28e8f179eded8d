// The attribute PortInfo of the subnet management agent, IBA vol 1 §14.2.5.6.
#ifndef IBEMU_FABRIC_AGENTS_SMA_PORT_INFO_H_
#define IBEMU_FABRIC_AGENTS_SMA_PORT_INFO_H_

#include "fabric/agents/sma_request.h"
#include "mad/wire/mad_header.h"

namespace ibemu::fabric {

// See SmaRequest.
mad::MadStatus SmaPortInfo(const SmaRequest& request);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_SMA_PORT_INFO_H_
