// How readers of foreign formats put a draft together.
#ifndef IBEMU_TOPOLOGY_FORMATS_TEXT_DRAFT_BUILDER_H_
#define IBEMU_TOPOLOGY_FORMATS_TEXT_DRAFT_BUILDER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "topology/fault_list.h"
#include "topology/topology.h"
#include "topology/topology_draft.h"

namespace ibemu::topology {

// What a node is made of when its text does not say.
void SetDefaultIds(NodeSpec& node);

class DraftBuilder {
 public:
  struct End {
    NodeId node{};
    int port = 0;
    wire::Guid guid{};  // zero: the text does not say
  };

  explicit DraftBuilder(FaultList& faults) : faults_(faults) {}

  // A node whose name, ports and description are as they should be; else the
  // fault is told, and whoever leads there is not at fault.  A node GUID of
  // zero is completed in the end.
  std::optional<NodeId> AddNode(Place at, NodeSpec spec);
  size_t node_count() const { return draft_.nodes.size(); }

  // One cable, its ends aside.  That it is told once more from its other end
  // is no fault.
  void Connect(Place at, End a, End b, const LinkSpec& cable);

  // The topology, or every fault.  Call once.
  absl::StatusOr<Topology> Finish(Progress progress);

 private:
  // Keeps a text alive as long as the draft.
  std::string_view Keep(std::string text);
  void AddEnd(Place at, const End& own, const End& peer, const LinkSpec& cable);
  void CompleteNodeGuids();

  using PortPair = std::tuple<NodeId, int, NodeId, int>;

  FaultList& faults_;
  Draft draft_;
  std::vector<std::string_view> names_;  // by node
  // How often each cable was told from its first end.
  std::map<PortPair, int> told_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_TEXT_DRAFT_BUILDER_H_
