// Pitfall: a use of a queue pair or an adapter that works here and may fail or
// hang on hardware.
#ifndef IBEMU_DAEMON_WHY_PITFALLS_H_
#define IBEMU_DAEMON_WHY_PITFALLS_H_

#include <string>
#include <string_view>
#include <vector>

#include "daemon/why/context_facts.h"
#include "fabric/history/queue_pair_facts.h"

namespace ibemu::daemon {

// A Pitfall is a finding about one queue pair, or one open uverbs file.
struct Pitfall {
  std::string_view rule;  // "mtu-differs"
  std::string what;       // a sentence without a full stop
};

// Returns what of `own` is a pitfall, by the rules in the manual, ibemu(1).
// `peer`: the other end, where it is a simulated queue pair that is connected
// to this one; else null.
std::vector<Pitfall> FindPitfalls(const fabric::QueuePairFacts& own,
                                  const fabric::QueuePairFacts* peer);

// Returns what of a file that its program has closed is a pitfall, by the rules
// there.
std::vector<Pitfall> FindPitfalls(const ContextFacts& facts);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_PITFALLS_H_
