#include "topology/dragonfly.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "topology/topology_builder.h"

namespace ibemu::topology {

absl::StatusOr<Topology> GenerateDragonfly(GeneratorSpec& spec,
                                           Progress progress) {
  const int a = spec.Number("a", 1, 128, 4);
  const int h = spec.Number("h", 1, 128, std::max(1, a / 2));
  const int p = spec.Number("p", 1, 128, std::max(1, a / 2));
  const int g = spec.Number("g", 2, a * h + 1, a * h + 1);
  const LinkRate rate = spec.Rate();
  const int ports = p + a - 1 + h;
  if (ports > kMaxPorts) {
    spec.Fail(absl::StrFormat("p + a - 1 + h is %d ports, a switch has %d",
                              ports, kMaxPorts));
  }
  const int64_t switches = int64_t{a} * g;
  const int64_t hosts = switches * p;
  IBEMU_RETURN_IF_ERROR(spec.FinishWith(hosts + switches));

  // Each pair of groups gets the same number of cables; global ports that are
  // left over stay empty.
  const int cables_per_pair = a * h / (g - 1);
  const int64_t links = hosts + switches * (a - 1) / 2 +
                        int64_t{g} * (g - 1) / 2 * cables_per_pair;
  TopologyBuilder builder(rate, static_cast<size_t>(hosts + switches),
                          static_cast<size_t>(links), progress);
  builder.AddHosts(hosts);
  const auto member = [hosts, a](int group, int index) {
    return NodeId{static_cast<uint32_t>(hosts + int64_t{group} * a + index)};
  };

  for (int group = 0; group < g; ++group) {
    for (int i = 0; i < a; ++i) {
      builder.AddSwitch(absl::StrCat("group-", group + 1, "-switch-", i + 1),
                        ports);
    }
  }
  for (int64_t i = 0; i < hosts; ++i) {
    const auto in_group = static_cast<int>(i / p % a);
    builder.Connect(NodeId{static_cast<uint32_t>(i)}, 1,
                    member(static_cast<int>(i / p / a), in_group),
                    static_cast<int>(i % p) + 1);
  }
  for (int group = 0; group < g; ++group) {
    for (int i = 0; i < a; ++i) {
      for (int j = i + 1; j < a; ++j) {
        builder.Connect(member(group, i), p + j, member(group, j), p + i + 1);
      }
    }
  }

  // The global ports of a group are numbered 0 to a * h - 1: port k belongs to
  // switch k / h of the group.  In each round a group gets one cable to every
  // other group, in the order of the group numbers.
  const int first_global = p + a;
  for (int round = 0; round < cables_per_pair; ++round) {
    for (int from = 0; from < g; ++from) {
      for (int to = from + 1; to < g; ++to) {
        const int k = round * (g - 1) + to - 1;
        const int l = round * (g - 1) + from;
        builder.Connect(member(from, k / h), first_global + k % h,
                        member(to, l / h), first_global + l % h);
      }
    }
  }
  return builder.Take();
}

}  // namespace ibemu::topology
