#include "fabric/routing/min_hop_router.h"

#include <algorithm>
#include <limits>

#include "fabric/routing/switch_ranks.h"

namespace ibemu::fabric {

MinHopRouter::MinHopRouter(Subnet& subnet,
                           std::span<const topology::NodeId> switches)
    : subnet_(subnet) {
  ReadSubnet(switches);
}

void MinHopRouter::ReadSubnet(std::span<const topology::NodeId> switches) {
  constexpr Switch kNone = 0xffffffff;
  const std::vector<uint16_t> ranks = RankSwitches(subnet_);
  std::vector<Switch> index(subnet_.nodes().size(), kNone);
  std::vector<const Node*> nodes;
  for (const topology::NodeId id : switches) {
    Node& node = subnet_.node(id);
    if (!node.up) continue;
    index[static_cast<size_t>(id)] = static_cast<Switch>(states_.size());
    states_.push_back(node.sw.get());
    lids_.push_back(subnet_.port(node.first_port).info.lid);
    if (!ranks.empty()) ranks_.push_back(ranks[static_cast<size_t>(id)]);
    nodes.push_back(&node);
  }

  const auto close = [this] {
    first_cable_.push_back(static_cast<uint32_t>(cables_.size()));
    first_neighbour_.push_back(static_cast<uint32_t>(neighbours_.size()));
    first_host_.push_back(static_cast<uint32_t>(hosts_.size()));
  };
  close();
  for (const Node* node : nodes) {
    const auto begin = static_cast<std::ptrdiff_t>(neighbours_.size());
    for (const NodePort& port : subnet_.PortsOf(*node)) {
      if (port.number == 0 || port.peer == kNoPort || !port.IsUp()) continue;
      const NodePort& peer = subnet_.port(port.peer);
      const Switch to = index[static_cast<size_t>(peer.node)];
      if (!subnet_.node(peer.node).is_switch()) {
        hosts_.push_back({peer.info.lid, port.number});
      } else if (to == kNone) {
        continue;
      } else if (&subnet_.node(peer.node) != node) {
        cables_.push_back({to, port.number});
        neighbours_.push_back(to);
      }
    }
    std::sort(neighbours_.begin() + begin, neighbours_.end());
    neighbours_.erase(
        std::unique(neighbours_.begin() + begin, neighbours_.end()),
        neighbours_.end());
    close();
  }
  load_.resize(cables_.size());
  paths_.resize(states_.size());
  blocks_.resize(states_.size());
}

void MinHopRouter::Route(wire::Lid top) {
  RouteSome(std::numeric_limits<size_t>::max(), top);
}

bool MinHopRouter::RouteSome(size_t entries, wire::Lid top) {
  // Blocks may have moved since the last call.
  block_ = kNoBlock;
  size_t done = 0;
  while (next_ < states_.size() && done < entries) {
    RouteTo(next_);
    const size_t lids = 1 + first_host_[next_ + 1] - first_host_[next_];
    done += lids * states_.size();
    ++next_;
  }
  if (next_ < states_.size()) return false;
  ForgetUnassigned(top);
  return true;
}

bool MinHopRouter::Covers(const MinHopRouter& now) const {
  if (states_ != now.states_ || lids_ != now.lids_ ||
      first_cable_ != now.first_cable_ || cables_ != now.cables_) {
    return false;
  }
  // Both lists are in the order of the ports.
  for (size_t at = 0; at < states_.size(); ++at) {
    const auto of = [at](const MinHopRouter& router) {
      return std::span(router.hosts_)
          .subspan(router.first_host_[at],
                   router.first_host_[at + 1] - router.first_host_[at]);
    };
    const auto by_port = [](const Host& a, const Host& b) {
      return a.port != b.port ? a.port < b.port : a.lid < b.lid;
    };
    const std::span<const Host> before = of(*this), after = of(now);
    if (!std::includes(before.begin(), before.end(), after.begin(), after.end(),
                       by_port)) {
      return false;
    }
  }
  return true;
}

void MinHopRouter::RouteTo(Switch destination) {
  Explore(destination);
  FindChoices();
  for (uint32_t i = first_host_[destination]; i < first_host_[destination + 1];
       ++i) {
    RouteHost(destination, hosts_[i]);
  }
  RouteSwitch(destination);
}

// A breadth-first search against the direction of the packets.  A path that has
// to go down from here can be extended by any switch, a path that still goes up
// only by switches below.
void MinHopRouter::Explore(Switch destination) {
  distance_.assign(states_.size(), kUnreached);
  way_.assign(states_.size(), ranks_.empty() ? Way::kAny : Way::kUp);
  order_.clear();
  distance_[destination] = 0;
  way_[destination] = ranks_.empty() ? Way::kAny : Way::kDown;
  order_.push_back(destination);
  for (size_t i = 0; i < order_.size(); ++i) {
    const Switch at = order_[i];
    for (uint32_t n = first_neighbour_[at]; n < first_neighbour_[at + 1]; ++n) {
      const Switch from = neighbours_[n];
      if (ranks_.empty()) {
        Reach(from, at, Way::kAny);
      } else if (ranks_[from] < ranks_[at]) {
        Reach(from, at, Way::kUp);
      } else if (way_[at] == Way::kDown) {
        Reach(from, at, Way::kDown);
      }
    }
  }
  if (order_.size() < states_.size()) ExploreAgainstTheRules();
}

// Reaches the remaining switches through those that have a path, nearest first,
// without regard to up and down.
void MinHopRouter::ExploreAgainstTheRules() {
  if (ranks_.empty()) return;
  std::vector<Switch> lawful;
  lawful.swap(order_);
  std::vector<Switch> others;
  size_t next_lawful = 0, next_other = 0;
  const auto take = [&]() -> Switch {
    const bool lawful_is_nearer =
        next_other == others.size() ||
        (next_lawful < lawful.size() &&
         distance_[lawful[next_lawful]] <= distance_[others[next_other]]);
    return lawful_is_nearer ? lawful[next_lawful++] : others[next_other++];
  };
  std::vector<Switch> merged;
  while (next_lawful < lawful.size() || next_other < others.size()) {
    const Switch at = take();
    merged.push_back(at);
    for (uint32_t n = first_neighbour_[at]; n < first_neighbour_[at + 1]; ++n) {
      Reach(neighbours_[n], at, Way::kAny);
    }
    others.insert(others.end(), order_.begin(), order_.end());
    order_.clear();
  }
  order_ = std::move(merged);
}

void MinHopRouter::Reach(Switch from, Switch to, Way way) {
  if (distance_[from] != kUnreached) return;
  distance_[from] = static_cast<uint16_t>(distance_[to] + 1);
  way_[from] = way;
  order_.push_back(from);
}

bool MinHopRouter::IsAllowed(Switch from, Switch to) const {
  switch (way_[from]) {
    case Way::kDown:
      return ranks_[to] < ranks_[from];
    case Way::kUp:
      return ranks_[to] > ranks_[from] && way_[to] != Way::kAny;
    case Way::kAny:
      break;
  }
  return true;
}

// Finds, for each switch in order_, the cables that lead nearer to the
// destination.
void MinHopRouter::FindChoices() {
  choices_.clear();
  first_choice_.assign(1, 0);
  for (const Switch at : order_) {
    const int nearer = distance_[at] - 1;
    for (uint32_t c = first_cable_[at]; c < first_cable_[at + 1]; ++c) {
      const Switch to = cables_[c].to;
      if (distance_[to] == nearer && IsAllowed(at, to)) choices_.push_back(c);
    }
    first_choice_.push_back(static_cast<uint32_t>(choices_.size()));
  }
}

void MinHopRouter::OpenBlocks(wire::Lid lid) {
  const uint32_t block =
      static_cast<uint16_t>(lid) / uint32_t{LinearTable::kBlockEntries};
  if (block == block_) return;
  block_ = block;
  for (size_t i = 0; i < states_.size(); ++i) {
    blocks_[i] = &states_[i]->linear.Edit(block);
  }
}

// Starts with the farthest switches, so that the number of paths through a
// switch is known when its cable is chosen.
void MinHopRouter::RouteHost(Switch destination, const Host& host) {
  if (host.lid == wire::Lid::kUnassigned) return;
  OpenBlocks(host.lid);
  ForgetUnreached(host.lid);
  const size_t entry =
      static_cast<uint16_t>(host.lid) % LinearTable::kBlockEntries;
  for (const Switch at : order_) {
    paths_[at] = first_host_[at + 1] - first_host_[at];
  }
  for (size_t i = order_.size() - 1; i > 0; --i) {
    const Switch at = order_[i];
    uint32_t best = choices_[first_choice_[i]];
    if (paths_[at] != 0) {
      for (uint32_t c = first_choice_[i] + 1; c < first_choice_[i + 1]; ++c) {
        if (load_[choices_[c]] < load_[best]) best = choices_[c];
      }
      load_[best] += paths_[at];
      paths_[cables_[best].to] += paths_[at];
    }
    (*blocks_[at])[entry] = cables_[best].port;
  }
  (*blocks_[destination])[entry] = host.port;
}

// The load does not count for paths to switches, because hosts do not talk to
// them: any shortest path will do.
void MinHopRouter::RouteSwitch(Switch destination) {
  const wire::Lid lid = lids_[destination];
  if (lid == wire::Lid::kUnassigned) return;
  OpenBlocks(lid);
  ForgetUnreached(lid);
  const size_t entry = static_cast<uint16_t>(lid) % LinearTable::kBlockEntries;
  for (size_t i = 1; i < order_.size(); ++i) {
    const uint32_t first = first_choice_[i];
    const uint32_t count = first_choice_[i + 1] - first;
    const uint32_t choice =
        choices_[first + static_cast<uint16_t>(lid) % count];
    (*blocks_[order_[i]])[entry] = cables_[choice].port;
  }
  (*blocks_[destination])[entry] = 0;
}

void MinHopRouter::ForgetUnreached(wire::Lid lid) {
  if (order_.size() == states_.size()) return;
  const size_t entry = static_cast<uint16_t>(lid) % LinearTable::kBlockEntries;
  for (size_t at = 0; at < states_.size(); ++at) {
    if (distance_[at] == kUnreached) {
      (*blocks_[at])[entry] = LinearTable::kNoPort;
    }
  }
}

void MinHopRouter::ForgetUnassigned(wire::Lid top) {
  std::vector<bool> assigned(static_cast<size_t>(top) + 1);
  const auto assign = [&](wire::Lid lid) {
    if (lid <= top) assigned[static_cast<size_t>(lid)] = true;
  };
  for (const wire::Lid lid : lids_) assign(lid);
  for (const Host& host : hosts_) assign(host.lid);
  for (size_t lid = 0; lid < assigned.size(); ++lid) {
    if (assigned[lid]) continue;
    for (SwitchState* const state : states_) {
      const wire::Lid gone{static_cast<uint16_t>(lid)};
      if (state->linear.Lookup(gone) == LinearTable::kNoPort) continue;
      state->linear.Set(gone, LinearTable::kNoPort);
    }
  }
}

}  // namespace ibemu::fabric
