#include "topology/torus.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/absl_text.h"
#include "base/status_macros.h"
#include "topology/topology_builder.h"

namespace ibemu::topology {
namespace {

// Returns the sizes of a shape such as "3x4"; empty after an error.
std::vector<int> TakeSizes(GeneratorSpec& spec) {
  const std::string shape(spec.Bare());
  std::vector<int> sizes;
  for (absl::string_view part : absl::StrSplit(shape, 'x')) {
    int size = 0;
    if (!absl::SimpleAtoi(part, &size) || size < 2 || size > 1024) {
      spec.Fail(absl::StrFormat(
          "\"%s\" is no size of a torus: it is one to three numbers from 2 to "
          "1024, as in torus:4x4x4",
          shape));
      return {};
    }
    sizes.push_back(size);
  }
  if (sizes.size() > 3) {
    spec.Fail(
        absl::StrFormat("\"%s\" has %d dimensions: a torus has one to three",
                        shape, sizes.size()));
    return {};
  }
  return sizes;
}

// A mapping between switch numbers and coordinates.  The last dimension varies
// fastest.
class Grid {
 public:
  explicit Grid(std::vector<int> sizes)
      : sizes_(std::move(sizes)), strides_(sizes_.size(), 1) {
    for (size_t d = sizes_.size() - 1; d > 0; --d) {
      strides_[d - 1] = strides_[d] * sizes_[d];
    }
  }

  size_t dimensions() const { return sizes_.size(); }
  int64_t count() const { return strides_[0] * sizes_[0]; }
  int64_t Coordinate(int64_t index, size_t d) const {
    return index / strides_[d] % sizes_[d];
  }
  // Returns the neighbour in direction +d.  Returns -1 for the second of two
  // switches in a dimension, whose only cable is that of the first.
  int64_t Next(int64_t index, size_t d) const {
    const int64_t here = Coordinate(index, d);
    if (here + 1 < sizes_[d]) return index + strides_[d];
    return sizes_[d] == 2 ? -1 : index - here * strides_[d];
  }
  std::string NameOf(int64_t index) const {
    std::string name = "switch";
    for (size_t d = 0; d < dimensions(); ++d) {
      absl::StrAppend(&name, "-", Coordinate(index, d));
    }
    return name;
  }

 private:
  std::vector<int> sizes_;
  std::vector<int64_t> strides_;
};

}  // namespace

absl::StatusOr<Topology> GenerateTorus(GeneratorSpec& spec, Progress progress) {
  const std::vector<int> sizes = TakeSizes(spec);
  const int directions = 2 * static_cast<int>(sizes.size());
  const int per_switch = spec.Number("hosts", 1, kMaxPorts - directions, 1);
  const LinkRate rate = spec.Rate();
  IBEMU_RETURN_IF_ERROR(spec.status());

  const Grid grid(sizes);
  const int64_t hosts = grid.count() * per_switch;
  IBEMU_RETURN_IF_ERROR(spec.FinishWith(hosts + grid.count()));

  TopologyBuilder builder(
      rate, static_cast<size_t>(hosts + grid.count()),
      static_cast<size_t>(hosts + grid.count() * directions / 2), progress);
  const auto at = [hosts](int64_t index) {
    return NodeId{static_cast<uint32_t>(hosts + index)};
  };
  builder.AddHosts(hosts);
  for (int64_t i = 0; i < grid.count(); ++i) {
    builder.AddSwitch(grid.NameOf(i), directions + per_switch);
  }
  for (int64_t i = 0; i < hosts; ++i) {
    builder.Connect(NodeId{static_cast<uint32_t>(i)}, 1, at(i / per_switch),
                    directions + 1 + static_cast<int>(i % per_switch));
  }
  for (int64_t i = 0; i < grid.count(); ++i) {
    for (size_t d = 0; d < grid.dimensions(); ++d) {
      const int64_t next = grid.Next(i, d);
      if (next < 0) continue;
      const int plus = 2 * static_cast<int>(d) + 1;
      builder.Connect(at(i), plus, at(next), plus + 1);
    }
  }
  return builder.Take();
}

}  // namespace ibemu::topology
