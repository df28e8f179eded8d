// DraftBuilder: the builder of a topology's draft, for readers of foreign
// formats.
#ifndef IBEMU_TOPOLOGY_FORMATS_TEXT_DRAFT_BUILDER_H_
#define IBEMU_TOPOLOGY_FORMATS_TEXT_DRAFT_BUILDER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/fault_list.h"
#include "topology/topology.h"
#include "topology/topology_draft.h"

namespace ibemu::topology {

// Sets the vendor and device IDs of a node whose text does not give them.
void SetDefaultIds(NodeSpec& node);

// A draft under construction, from nodes and cables.
class DraftBuilder {
 public:
  struct End {
    NodeId node{};
    int port = 0;
    wire::Guid guid{};  // zero if the text does not give it
  };

  explicit DraftBuilder(FaultList& faults) : faults_(faults) {}

  // Adds a node.  If its name, number of ports, description or port GUIDs are
  // invalid, a fault is reported and nothing is returned; cables to that node
  // are no further faults then.  Finish() replaces a node GUID of zero.
  std::optional<NodeId> AddNode(Place at, NodeSpec spec);
  size_t node_count() const { return draft_.nodes.size(); }

  // Adds one cable, whose properties except for its ends are in `cable`.  It is
  // not a fault if the text describes it a second time from its other end.
  void Connect(Place at, End a, End b, const LinkSpec& cable);

  // Gives a port one more address.  `text` is as in "10.1.0.1/16".
  void AddAddress(Place at, NodeId node, int port, std::string text);

  // Returns the topology, or an error with all faults.  REQUIRES: called once.
  absl::StatusOr<Topology> Finish(Progress progress);

 private:
  // Stores a text for the lifetime of the draft.
  std::string_view Keep(std::string text);
  void AddEnd(Place at, const End& own, const End& peer, const LinkSpec& cable);
  void CompleteNodeGuids();

  using PortPair = std::tuple<NodeId, int, NodeId, int>;

  FaultList& faults_;
  Draft draft_;
  std::vector<std::string_view> names_;  // by node
  // The number of times that each cable was described from its first end, and
  // not yet from the other.
  std::map<PortPair, int> told_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_TEXT_DRAFT_BUILDER_H_
