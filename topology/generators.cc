#include "topology/generators.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_format.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "topology/dragonfly.h"
#include "topology/fat_tree.h"
#include "topology/generator_spec.h"
#include "topology/topology_builder.h"
#include "topology/torus.h"

namespace ibemu::topology {
namespace {

NodeId Host(int64_t index) { return NodeId{static_cast<uint32_t>(index)}; }

// Two hosts and one cable.
absl::StatusOr<Topology> GenerateBackToBack(GeneratorSpec& spec,
                                            Progress progress) {
  const LinkRate rate = spec.Rate();
  IBEMU_RETURN_IF_ERROR(spec.Finish());

  TopologyBuilder builder(rate, 2, 1, progress);
  builder.AddHosts(2);
  builder.Connect(Host(0), 1, Host(1), 1);
  return builder.Take();
}

// `hosts` hosts on ports 1..hosts of one switch, which has `ports` ports.
absl::StatusOr<Topology> GenerateSingleSwitch(GeneratorSpec& spec,
                                              Progress progress) {
  const int hosts = spec.Number("hosts", 1, kMaxPorts, 8);
  const int ports = spec.Number("ports", hosts, kMaxPorts, hosts);
  const LinkRate rate = spec.Rate();
  IBEMU_RETURN_IF_ERROR(spec.Finish());

  TopologyBuilder builder(rate, static_cast<size_t>(hosts) + 1,
                          static_cast<size_t>(hosts), progress);
  builder.AddHosts(hosts);
  const NodeId hub = builder.AddSwitch("switch-1", ports);
  for (int i = 0; i < hosts; ++i) builder.Connect(Host(i), 1, hub, i + 1);
  return builder.Take();
}

struct Generator {
  std::string_view name;
  absl::StatusOr<Topology> (*generate)(GeneratorSpec&, Progress);
};
constexpr Generator kGenerators[] = {
    {"back-to-back", GenerateBackToBack},
    {"single-switch", GenerateSingleSwitch},
    {"fat-tree", GenerateFatTree},
    {"torus", GenerateTorus},
    {"dragonfly", GenerateDragonfly},
};

const Generator* FindGenerator(std::string_view spec) {
  const std::string_view name = spec.substr(0, spec.find(':'));
  const auto* found = std::ranges::find(kGenerators, name, &Generator::name);
  return found == std::end(kGenerators) ? nullptr : found;
}

}  // namespace

bool IsGenerator(std::string_view spec) {
  return FindGenerator(spec) != nullptr;
}

std::string SimilarGenerator(std::string_view name) {
  DidYouMean names(name);
  for (const Generator& known : kGenerators) names.Offer(known.name);
  return names.Question();
}

absl::StatusOr<Topology> GenerateTopology(std::string_view spec,
                                          Progress progress) {
  GeneratorSpec words(spec);
  const Generator* generator = FindGenerator(spec);
  if (generator == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrFormat("no generator is named \"%s\"%s", words.name(),
                        SimilarGenerator(words.name())));
  }
  return generator->generate(words, progress);
}

}  // namespace ibemu::topology
