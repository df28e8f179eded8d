// KeepPeers(): the restart of what serves other machines, when it dies.
#ifndef IBEMU_LAUNCH_PEERS_KEEP_PEERS_H_
#define IBEMU_LAUNCH_PEERS_KEEP_PEERS_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace ibemu::launch {

// A PeersBody is what ibemu-peers does in a process of its own.  To the socket
// `news` it writes one line: kPeersReady and where it listens, if it does, or
// what is wrong.  `before`: where it listened the last time; empty at first.
// Returns an exit status: 0, when `line` hangs up or all else is over.
using PeersBody = absl::FunctionRef<int(int news, const std::string& before)>;

// Runs `body` in a child process, and when that one dies in another, after
// `pause`, until it returns 0 or `line`, the end of a PeersProcess that its
// arguments name, hangs up.  The first child's news goes on to `line`, and if
// it is not ready no other comes; what happens later is told to standard error.
// A child dies with this process.  Call it before the first thread starts.
//
// Returns what this process is to exit with.
int KeepPeers(int line, absl::Duration pause, PeersBody body);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_PEERS_KEEP_PEERS_H_
