// A topology as its text tells it, before anybody has checked that the lines
// fit together.
#ifndef IBEMU_TOPOLOGY_TOPOLOGY_DRAFT_H_
#define IBEMU_TOPOLOGY_TOPOLOGY_DRAFT_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "topology/fault_list.h"
#include "topology/topology.h"

namespace ibemu::topology {

// One port line: this end of a cable, and what it says of the other.
struct DraftEnd {
  NodeId node{};
  int port = 0;
  Place at;
  std::string_view peer;  // empty: the line is faulty, or just an alias
  int peer_port = 0;
  LinkRate rate;
  uint16_t length = 0;  // metres
  bool down = false;
  // Zero: the line does not say.
  wire::Guid own_guid{}, peer_guid{};
  // The other end names this port by an alias and need not be listed here.
  bool is_alias = false;
};

struct DraftNode {
  NodeSpec spec;  // port GUIDs: as far as the node's own lines tell them
  Place at;       // of the header
  Place guid_at;  // of "caguid=" and its like, or of the header
};

struct DraftPort {
  NodeId node{};
  int port = 0;
};

// Texts are kept alive here: everything else points into them.
struct Draft {
  std::deque<std::string> texts;
  std::vector<DraftNode> nodes;
  std::vector<DraftEnd> ends;
  absl::flat_hash_map<absl::string_view, NodeId> names;
  absl::flat_hash_map<absl::string_view, DraftPort> aliases;
  // Nodes whose header is at fault: that somebody leads to them is not.
  absl::flat_hash_set<absl::string_view> faulty;
};

// Joins the ends to cables and completes the GUIDs.  What does not fit goes
// to `faults`; then the result is incomplete.
Topology ResolveDraft(Draft draft, FaultList& faults, Progress progress);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_TOPOLOGY_DRAFT_H_
