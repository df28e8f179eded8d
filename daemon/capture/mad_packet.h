// The packets that carry MADs, as far as a host's MAD layer knows them.
#ifndef IBEMU_DAEMON_CAPTURE_MAD_PACKET_H_
#define IBEMU_DAEMON_CAPTURE_MAD_PACKET_H_

#include "fabric/packet/packet.h"
#include "mad/address.h"
#include "mad/port.h"

namespace ibemu::daemon {

// Return the packet of a MAD that `port` sends or has received.  What the MAD
// layer is not told is what it is without a further reason: a directed route's
// LIDs are permissive in its directed part (IBA vol 1 §14.2.2), and an arrival
// came to a LID of the port.
fabric::Packet PacketOf(const mad::Outgoing& sent, const mad::Port& port);
fabric::Packet PacketOf(const mad::Arrival& received, const mad::Port& port);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_MAD_PACKET_H_
