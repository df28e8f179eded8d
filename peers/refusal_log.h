// LogRefusal(): a line in the log for a peer that is refused.
#ifndef IBEMU_PEERS_REFUSAL_LOG_H_
#define IBEMU_PEERS_REFUSAL_LOG_H_

#include <string>

namespace ibemu::peers {

// Tells on standard error that a peer is refused, and why, once a second at
// most, for whoever knows our address may come as often as he likes.  May be
// called by several threads.
void LogRefusal(const std::string& why);

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_REFUSAL_LOG_H_
