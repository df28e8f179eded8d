// Slurm's short form of many names: "node[1-18,20],login".
#ifndef IBEMU_TOPOLOGY_FORMATS_TEXT_HOSTLIST_H_
#define IBEMU_TOPOLOGY_FORMATS_TEXT_HOSTLIST_H_

#include <string>
#include <vector>

namespace ibemu::topology {

// Returns the short form, sorted by prefix and number, with each name once.
std::string FormatHostlist(const std::vector<std::string>& names);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_TEXT_HOSTLIST_H_
