// Slurm's short form of many names: "node[1-18,20],login".
#ifndef IBEMU_FABRIC_FORMATS_HOSTLIST_H_
#define IBEMU_FABRIC_FORMATS_HOSTLIST_H_

#include <string>
#include <vector>

namespace ibemu::fabric {

// In the order of prefixes and numbers; each name once.
std::string FormatHostlist(const std::vector<std::string>& names);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORMATS_HOSTLIST_H_
