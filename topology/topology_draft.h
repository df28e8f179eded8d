// Draft: a topology as its text gives it, before it is checked for consistency.
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

// One port line: this end of a cable, and what the line says of the other end.
struct DraftEnd {
  NodeId node{};
  int port = 0;
  Place at;
  std::string_view peer;  // empty: the line is faulty, or only an alias
  int peer_port = 0;
  LinkRate rate;
  uint16_t length = 0;  // metres
  bool down = false;
  // Zero: not given in the line.
  wire::Guid own_guid{}, peer_guid{};
  // True: the other end names this port by an alias and need not be named here.
  bool is_alias = false;
};

// One node, with the places of its lines.
struct DraftNode {
  NodeSpec spec;  // port GUIDs: only those in the node's own lines
  Place at;       // of the header
  Place guid_at;  // of a line such as "caguid=", or of the header
};

// One address of a port, as it stands in the text.
struct DraftAddress {
  Place at;
  NodeId node{};
  int port = 0;
  std::string_view text;
};

// The port behind an alias.
struct DraftPort {
  NodeId node{};
  int port = 0;
};

// All lines of a text.  It owns the texts of the files, into which all
// string_views point.
struct Draft {
  std::deque<std::string> texts;
  std::vector<DraftNode> nodes;
  std::vector<DraftEnd> ends;
  std::vector<DraftAddress> addresses;
  absl::flat_hash_map<absl::string_view, NodeId> names;
  absl::flat_hash_map<absl::string_view, DraftPort> aliases;
  // The names of nodes with a faulty header.  References to them are not
  // reported as faults.
  absl::flat_hash_set<absl::string_view> faulty;
};

// Joins the ends to cables and completes the GUIDs.  Inconsistencies are added
// to `faults`; the result is then incomplete.
Topology ResolveDraft(Draft draft, FaultList& faults, Progress progress);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_TOPOLOGY_DRAFT_H_
