// The attributes of the subnet management agent that no subnet manager needs
// for its configuration: diagnostics, LEDs, link speeds, and Mellanox's own.
#ifndef IBEMU_FABRIC_AGENTS_SMA_DIAGNOSTICS_H_
#define IBEMU_FABRIC_AGENTS_SMA_DIAGNOSTICS_H_

#include "fabric/agents/sma_request.h"
#include "mad/wire/mad_header.h"

namespace ibemu::fabric {

// VendorDiag, LedInfo (IBA vol 1 §14.2.5.14 and .15) and
// LinkSpeedWidthPairsTable.  See SmaRequest.
mad::MadStatus SmaVendorDiag(const SmaRequest& request);
mad::MadStatus SmaLedInfo(const SmaRequest& request);
mad::MadStatus SmaLinkSpeedWidthPairsTable(const SmaRequest& request);

// ExtendedPortInfo and GeneralInfo.  Only nodes that OpenSM takes for
// Mellanox's support them.  See SmaRequest.
mad::MadStatus SmaMellanoxExtendedPortInfo(const SmaRequest& request);
mad::MadStatus SmaMellanoxGeneralInfo(const SmaRequest& request);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_SMA_DIAGNOSTICS_H_
