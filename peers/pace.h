// The pace of a TCP connection for packets.
#ifndef IBEMU_PEERS_PACE_H_
#define IBEMU_PEERS_PACE_H_

#include <string>

namespace ibemu::peers {

// BBR sends at the pace that it has measured, by a timer for each 64 KiB, which
// costs more than all else that a connection within a building does
// (peers/README.md).  So where it is the machine's algorithm, a connection
// begins with Reno, which everybody may choose, and goes back to it if the
// other machine turns out to be far.  (A connection that began with BBR is
// paced for ever, whatever it has later.)  Other algorithms stay.

// Returns the name of the machine's algorithm, as of
// net.ipv4.tcp_congestion_control.
const std::string& MachinesAlgorithm();

// Chooses Reno in BBR's place for the connection that `socket` will make, or
// for those that it will accept.
void BeginUnpaced(int socket);

// Chooses BBR again for a connected socket if the other machine is far.
void PaceIfFar(int socket);

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_PACE_H_
