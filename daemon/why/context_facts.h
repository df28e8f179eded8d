// ContextFacts: the objects that a program has left in an open uverbs file, and
// how the program used the file.
#ifndef IBEMU_DAEMON_WHY_CONTEXT_FACTS_H_
#define IBEMU_DAEMON_WHY_CONTEXT_FACTS_H_

#include <cstdint>

#include "cuse/uverbs/uverbs_file.h"

namespace ibemu::daemon {

// The ContextFacts of one open file at one moment.
struct ContextFacts {
  uint64_t process = 0;          // whose it is, see verbs::Memory::process()
  uint32_t address_handles = 0;  // that exist
  uint32_t destinations = 0;     // that these have, each counted once
  uint64_t late_arms = 0;        // see verbs::ContextObjects
  uint64_t others_commands = 0;  // that another process wrote
};

// Returns the facts of a file as it is now.  The cost grows with the number of
// its address handles.
ContextFacts FactsOf(const cuse::UverbsFile& file);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_CONTEXT_FACTS_H_
