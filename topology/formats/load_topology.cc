#include "topology/formats/load_topology.h"

#include <filesystem>

#include "absl/strings/str_format.h"
#include "topology/formats/formats.h"
#include "topology/formats/system_library.h"
#include "topology/read_file.h"

namespace ibemu::topology {
namespace {

absl::StatusOr<Topology> ParseText(std::string_view text, std::string_view file,
                                   Progress progress, int depth) {
  switch (DetectFormat(text, file)) {
    case TextFormat::kIbnetdiscover:
      break;
    case TextFormat::kSubnetList:
      return ParseSubnetList(text, file, progress);
    case TextFormat::kIbdmTopology: {
      SystemLibrary systems;
      systems.AddDirectories(SystemDirectories(
          std::filesystem::path(file).parent_path().string()));
      systems.AddSmallSystems();
      return ParseIbdmTopology(text, file, systems, progress);
    }
    case TextFormat::kDot:
      return ParseDot(text, file, progress);
    case TextFormat::kContainerlab:
      return ParseContainerlab(text, file, progress);
    case TextFormat::kSpec:
      return ParseSpec(text, file, progress, depth);
  }
  return ParseIbnetdiscover(text, file, progress);
}

}  // namespace

absl::StatusOr<Topology> ParseTopology(std::string_view text,
                                       std::string_view file,
                                       Progress progress) {
  return ParseText(text, file, progress, 0);
}

absl::StatusOr<Topology> ReadTopologyFile(const std::string& path,
                                          Progress progress, int depth) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  return ParseText(*text, path == "-" ? "standard input" : path, progress,
                   depth);
}

absl::StatusOr<Topology> LoadTopology(std::string_view spec,
                                      Progress progress) {
  if (IsGenerator(spec)) return GenerateTopology(spec, progress);

  absl::StatusOr<Topology> topology =
      ReadTopologyFile(std::string(spec), progress, 0);
  if (!absl::IsNotFound(topology.status())) return topology;
  // It may have been meant as a generator, too.
  return absl::NotFoundError(
      absl::StrFormat("%s%s", topology.status().message(),
                      SimilarGenerator(spec.substr(0, spec.find(':')))));
}

}  // namespace ibemu::topology
