#include "fabric/routing/path_trace.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "fabric/subnet/linear_table.h"
#include "mad/wire/port_info.h"

namespace ibemu::fabric {
namespace {

// Returns the number of the port that leads out of the switch, or 0 if the
// packet is for the switch itself.
int Route(const Node& node, wire::Lid dlid) {
  const bool in_range =
      dlid != wire::Lid::kUnassigned &&
      static_cast<uint16_t>(dlid) <= node.sw->info.linear_fdb_top;
  return in_range ? node.sw->linear.Lookup(dlid) : LinearTable::kNoPort;
}

// A walk from node to node.
class Walk {
 public:
  Walk(const Subnet& subnet, PortId from, wire::Lid dlid)
      : subnet_(subnet), dlid_(dlid) {
    trace_.hops.push_back(subnet.NodeOf(from).is_switch()
                              ? PathHop{.entry = from}
                              : PathHop{.exit = from});
  }

  PathTrace Run() {
    while (Leave() && Cross()) {
    }
    return std::move(trace_);
  }

 private:
  PathHop& here() { return trace_.hops.back(); }

  bool End(std::optional<DropCause> cause) {
    trace_.end = cause;
    return false;
  }

  // Finds the egress port of this node.  Returns false if the path ends here.
  bool Leave() {
    const PortId entry = here().entry;
    if (entry == kNoPort) {  // the first node
      return subnet_.port(here().exit).Owns(dlid_) ? End(std::nullopt) : true;
    }
    const NodePort& in = subnet_.port(entry);
    // An ARMED port becomes ACTIVE with the first packet.
    if (in.number != 0 && !in.IsActive() &&
        in.info.port_state != mad::PortState::kArmed) {
      return End(DropCause::kPortInactive);
    }
    const Node& node = subnet_.node(in.node);
    if (!node.is_switch()) {
      return End(in.Owns(dlid_) ? std::nullopt
                                : std::optional(DropCause::kNotOurs));
    }
    const int out = Route(node, dlid_);
    if (out == 0 && subnet_.port(node.first_port).Owns(dlid_)) {
      return End(std::nullopt);
    }
    if (out == 0 || out > node.port_count) return End(DropCause::kNoRoute);
    here().exit = subnet_.port_id(node, out);
    return out == in.number ? End(DropCause::kLooping) : true;
  }

  bool Cross() {
    const NodePort& out = subnet_.port(here().exit);
    if (!subnet_.node(out.node).up) return End(DropCause::kNodeDown);
    if (out.peer == kNoPort || !out.IsActive()) {
      return End(DropCause::kLinkDown);
    }
    // Tables do not change during the walk, so a port that is entered twice
    // would be entered forever.
    if (!entered_.insert(out.peer).second) return End(DropCause::kHopLimit);
    trace_.hops.push_back({.entry = out.peer});
    return true;
  }

  const Subnet& subnet_;
  const wire::Lid dlid_;
  absl::flat_hash_set<PortId> entered_;
  PathTrace trace_;
};

}  // namespace

PathTrace TracePath(const Subnet& subnet, PortId from, wire::Lid dlid) {
  return Walk(subnet, from, dlid).Run();
}

}  // namespace ibemu::fabric
