#include "topology/fat_tree.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "topology/topology_builder.h"

namespace ibemu::topology {
namespace {

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The dimensions of a fat tree.  A tree of two levels is a single pod without
// cores, so all ports of its spines lead down.
struct Shape {
  int radix = 0, half = 0;
  int64_t hosts = 0, leaves = 0, pods = 1;
  int64_t spines = 0;           // in each pod
  int64_t cores_per_spine = 0;  // connected to the n-th spine of each pod

  int64_t cores() const { return spines * cores_per_spine; }
  int64_t switches() const { return leaves + pods * spines + cores(); }
  bool has_cores() const { return cores_per_spine != 0; }
  int64_t leaves_per_pod() const { return has_cores() ? half : leaves; }
};

Shape TwoLevels(int radix, int64_t hosts) {
  Shape shape{.radix = radix, .half = radix / 2, .hosts = hosts};
  shape.leaves = DivideUp(hosts, shape.half);
  shape.spines = DivideUp(shape.leaves * shape.half, radix);
  return shape;
}

Shape ThreeLevels(int radix, int64_t hosts) {
  Shape shape{.radix = radix, .half = radix / 2, .hosts = hosts};
  shape.leaves = DivideUp(hosts, shape.half);
  shape.pods = DivideUp(shape.leaves, shape.half);
  shape.spines = shape.half;
  shape.cores_per_spine = DivideUp(shape.pods * shape.half, radix);
  return shape;
}

class FatTree {
 public:
  FatTree(const Shape& shape, const LinkRate& rate, Progress progress)
      : shape_(shape),
        builder_(
            rate, static_cast<size_t>(shape.hosts + shape.switches()),
            static_cast<size_t>(
                shape.hosts + shape.leaves * shape.half +
                (shape.has_cores() ? shape.pods * shape.half * shape.half : 0)),
            progress) {}

  Topology Build() {
    builder_.AddHosts(shape_.hosts);
    AddSwitches();
    for (int64_t i = 0; i < shape_.hosts; ++i) {
      builder_.Connect(NodeId{static_cast<uint32_t>(i)}, 1,
                       Leaf(i / shape_.half),
                       static_cast<int>(i % shape_.half) + 1);
    }
    ConnectLeaves();
    if (shape_.has_cores()) ConnectSpines();
    return builder_.Take();
  }

 private:
  NodeId Leaf(int64_t index) const { return At(index); }
  NodeId Spine(int64_t pod, int64_t index) const {
    return At(shape_.leaves + pod * shape_.spines + index);
  }
  NodeId Core(int64_t group, int64_t index) const {
    return At(shape_.leaves + shape_.pods * shape_.spines +
              group * shape_.cores_per_spine + index);
  }
  NodeId At(int64_t index) const {
    return NodeId{static_cast<uint32_t>(shape_.hosts + index)};
  }

  void AddSwitches() {
    const auto name = [this](int64_t pod, std::string_view kind, int64_t i) {
      return shape_.has_cores()
                 ? absl::StrFormat("pod-%d-%s-%d", pod + 1, kind, i + 1)
                 : absl::StrFormat("%s-%d", kind, i + 1);
    };
    for (int64_t i = 0; i < shape_.leaves; ++i) {
      const int64_t pod = i / shape_.leaves_per_pod();
      builder_.AddSwitch(name(pod, "leaf", i % shape_.leaves_per_pod()),
                         shape_.radix);
    }
    for (int64_t i = 0; i < shape_.pods * shape_.spines; ++i) {
      builder_.AddSwitch(name(i / shape_.spines, "spine", i % shape_.spines),
                         shape_.radix);
    }
    for (int64_t i = 0; i < shape_.cores(); ++i) {
      builder_.AddSwitch(absl::StrCat("core-", i + 1), shape_.radix);
    }
  }

  // Connects the leaves of each pod to its spines.  The uplinks take the spines
  // in turn, so that each gets its share even if the numbers do not divide.
  void ConnectLeaves() {
    for (int64_t i = 0; i < shape_.leaves; ++i) {
      const int64_t pod = i / shape_.leaves_per_pod();
      const int64_t first = i % shape_.leaves_per_pod() * shape_.half;
      for (int64_t up = 0; up < shape_.half; ++up) {
        const int64_t turn = first + up;
        builder_.Connect(Leaf(i), static_cast<int>(shape_.half + up) + 1,
                         Spine(pod, turn % shape_.spines),
                         static_cast<int>(turn / shape_.spines) + 1);
      }
    }
  }

  // Connects the n-th spine of every pod to the n-th group of cores, in the
  // same way.
  void ConnectSpines() {
    for (int64_t pod = 0; pod < shape_.pods; ++pod) {
      for (int64_t i = 0; i < shape_.spines; ++i) {
        for (int64_t up = 0; up < shape_.half; ++up) {
          const int64_t turn = pod * shape_.half + up;
          builder_.Connect(Spine(pod, i),
                           static_cast<int>(shape_.half + up) + 1,
                           Core(i, turn % shape_.cores_per_spine),
                           static_cast<int>(turn / shape_.cores_per_spine) + 1);
        }
      }
    }
  }

  Shape shape_;
  TopologyBuilder builder_;
};

}  // namespace

absl::StatusOr<Topology> GenerateFatTree(GeneratorSpec& spec,
                                         Progress progress) {
  const int radix = spec.Number("radix", 2, kMaxPorts, 36);
  const int levels = spec.Number("levels", 2, 3, 2);
  if (radix % 2 != 0) {
    spec.Fail(absl::StrFormat(
        "radix=%d is odd: half of a leaf's ports are uplinks", radix));
  }
  const int64_t half = radix / 2;
  const int64_t most = half * radix * (levels == 3 ? half : 1);
  const std::string remedy =
      levels == 3
          ? ""
          : absl::StrFormat(": make radix larger, or levels=3 for up to %d",
                            half * radix * half);
  const int64_t hosts = spec.Number("hosts", 1, static_cast<int>(most),
                                    static_cast<int>(most), remedy);
  const LinkRate rate = spec.Rate();

  const Shape shape =
      levels == 2 ? TwoLevels(radix, hosts) : ThreeLevels(radix, hosts);
  IBEMU_RETURN_IF_ERROR(spec.FinishWith(hosts + shape.switches()));
  return FatTree(shape, rate, progress).Build();
}

}  // namespace ibemu::topology
