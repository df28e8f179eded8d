// The number by which a journal knows its topology again.
#ifndef IBEMU_DAEMON_JOURNAL_TOPOLOGY_DIGEST_H_
#define IBEMU_DAEMON_JOURNAL_TOPOLOGY_DIGEST_H_

#include <cstdint>

#include "topology/topology.h"

namespace ibemu::daemon {

// Returns a number of the nodes, in their order, and their cables, cut or not:
// what a journal speaks of.  Names, speeds and addresses may change.  The same
// on every machine, and in every version of ibemu that reads the same files.
uint64_t DigestOf(const topology::Topology& topology);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_JOURNAL_TOPOLOGY_DIGEST_H_
