// Descriptions of subnets in other programs' formats.  Each reader tells every
// fault of its text in one run, as topology/topology.h promises; what each
// reads and writes: docs/topology.md.
#ifndef IBEMU_TOPOLOGY_FORMATS_FORMATS_H_
#define IBEMU_TOPOLOGY_FORMATS_FORMATS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "topology/formats/system_library.h"
#include "topology/topology.h"

namespace ibemu::topology {

enum class TextFormat {
  kIbnetdiscover,  // and ibsim
  kSubnetList,     // ibdm: opensm-subnet.lst, ibdiagnet.lst
  kIbdmTopology,   // ibdm: .topo
  kDot,            // Graphviz
  kSpec,           // YAML, of which JSON is a part
};

// By the ending of the file's name, else by what the text begins with.
TextFormat DetectFormat(std::string_view text, std::string_view file);

absl::StatusOr<Topology> ParseIbnetdiscover(std::string_view text,
                                            std::string_view file,
                                            Progress progress = NoProgress);

absl::StatusOr<Topology> ParseSubnetList(std::string_view text,
                                         std::string_view file,
                                         Progress progress = NoProgress);

// `systems` knows the switch systems and adapters that the text names.
absl::StatusOr<Topology> ParseIbdmTopology(std::string_view text,
                                           std::string_view file,
                                           SystemLibrary& systems,
                                           Progress progress = NoProgress);

absl::StatusOr<Topology> ParseDot(std::string_view text, std::string_view file,
                                  Progress progress = NoProgress);

// The deepest chain of specs that include specs.
inline constexpr int kMaxSpecIncludes = 9;
absl::StatusOr<Topology> ParseSpec(std::string_view text, std::string_view file,
                                   Progress progress = NoProgress,
                                   int depth = 0);

// Nodes and cables in the order of `topology`.  What a reader needs to make
// the same subnet again is all there.
std::string FormatDot(const Topology& topology);
std::string FormatSpecJson(const Topology& topology);
std::string FormatSpecYaml(const Topology& topology);

// Slurm's topology.conf for its plugin topology/tree.
std::string FormatSlurm(const Topology& topology);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_FORMATS_H_
