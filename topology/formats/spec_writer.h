// The writers of specs.
#ifndef IBEMU_TOPOLOGY_FORMATS_SPEC_WRITER_H_
#define IBEMU_TOPOLOGY_FORMATS_SPEC_WRITER_H_

#include <string>

#include "topology/topology.h"

namespace ibemu::topology {

// Return a spec of the nodes and cables, in the order of `topology`, from which
// ParseSpec() makes the same subnet: in YAML for people, and in JSON, which is
// also YAML, for programs.  Of the speeds of a link they name the best.
std::string FormatSpecYaml(const Topology& topology);
std::string FormatSpecJson(const Topology& topology);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SPEC_WRITER_H_
