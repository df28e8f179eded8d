// The formats in which a subnet can be described: the readers and writers of
// this room and of ibnetdiscover's format, for callers that know them all, and
// how a text's format is told.  What each reads and writes: ibemu-topology(5).
#ifndef IBEMU_TOPOLOGY_FORMATS_FORMATS_H_
#define IBEMU_TOPOLOGY_FORMATS_FORMATS_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "topology/formats/containerlab_reader.h"
#include "topology/formats/dot_reader.h"
#include "topology/formats/dot_writer.h"
#include "topology/formats/ibdm_topology.h"
#include "topology/formats/slurm_writer.h"
#include "topology/formats/spec_reader.h"
#include "topology/formats/spec_writer.h"
#include "topology/formats/subnet_list.h"
#include "topology/ibnetdiscover_writer.h"
#include "topology/topology.h"

namespace ibemu::topology {

// The format of a text, of those in which a subnet can be described.
enum class TextFormat {
  kIbnetdiscover,  // and ibsim
  kSubnetList,     // ibdm: opensm-subnet.lst, ibdiagnet.lst
  kIbdmTopology,   // ibdm: .topo
  kDot,            // Graphviz
  kContainerlab,   // .clab.yml
  kSpec,           // YAML, of which JSON is a part
};

// Returns the format that the ending of the file's name tells, else the one
// that the text begins like.
TextFormat DetectFormat(std::string_view text, std::string_view file);

// Returns the subnet of a text in the format of ibnetdiscover and ibsim.
//
// Errors: InvalidArgument, every fault of the text, one per line; `file` names
// it there.
absl::StatusOr<Topology> ParseIbnetdiscover(std::string_view text,
                                            std::string_view file,
                                            Progress progress = NoProgress);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_FORMATS_H_
