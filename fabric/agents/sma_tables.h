// The tables of ports in the subnet management agent: GUIDs, P_Keys, virtual
// lanes.
#ifndef IBEMU_FABRIC_AGENTS_SMA_TABLES_H_
#define IBEMU_FABRIC_AGENTS_SMA_TABLES_H_

#include "fabric/agents/sma_request.h"
#include "mad/wire/mad_header.h"

namespace ibemu::fabric {

// GUIDInfo, P_KeyTable, SLtoVLMappingTable and VLArbitrationTable, IBA vol 1
// §14.2.5.5 and .7 to .9.  See SmaRequest.
mad::MadStatus SmaGuidInfo(const SmaRequest& request);
mad::MadStatus SmaPKeyTable(const SmaRequest& request);
mad::MadStatus SmaSlToVlMappingTable(const SmaRequest& request);
mad::MadStatus SmaVlArbitrationTable(const SmaRequest& request);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_SMA_TABLES_H_
