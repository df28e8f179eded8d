#include "fabric/min_hop_router.h"

#include <algorithm>

namespace ibemu::fabric {

MinHopRouter::MinHopRouter(Subnet& subnet) : subnet_(subnet) { ReadSubnet(); }

void MinHopRouter::ReadSubnet() {
  constexpr Switch kNone = 0xffffffff;
  std::vector<Switch> index(subnet_.nodes().size(), kNone);
  std::vector<const Node*> nodes;
  for (size_t i = 0; i < index.size(); ++i) {
    Node& node = subnet_.nodes()[i];
    if (!node.is_switch() || !node.up) continue;
    index[i] = static_cast<Switch>(states_.size());
    states_.push_back(node.sw.get());
    lids_.push_back(subnet_.port(node.first_port).info.lid);
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
      if (to == kNone) {
        hosts_.push_back({peer.info.lid, port.number});
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

void MinHopRouter::Route() {
  for (Switch to = 0; to < states_.size(); ++to) {
    Explore(to);
    FindChoices();
    for (uint32_t i = first_host_[to]; i < first_host_[to + 1]; ++i) {
      RouteHost(to, hosts_[i]);
    }
    RouteSwitch(to);
  }
}

void MinHopRouter::Explore(Switch destination) {
  distance_.assign(states_.size(), kUnreached);
  order_.clear();
  distance_[destination] = 0;
  order_.push_back(destination);
  for (size_t i = 0; i < order_.size(); ++i) {
    const Switch at = order_[i];
    const auto next = static_cast<uint16_t>(distance_[at] + 1);
    for (uint32_t n = first_neighbour_[at]; n < first_neighbour_[at + 1]; ++n) {
      if (distance_[neighbours_[n]] != kUnreached) continue;
      distance_[neighbours_[n]] = next;
      order_.push_back(neighbours_[n]);
    }
  }
}

// The cables of each switch of order_ that lead nearer to the destination.
void MinHopRouter::FindChoices() {
  choices_.clear();
  first_choice_.assign(1, 0);
  for (const Switch at : order_) {
    const int nearer = distance_[at] - 1;
    for (uint32_t c = first_cable_[at]; c < first_cable_[at + 1]; ++c) {
      if (distance_[cables_[c].to] == nearer) choices_.push_back(c);
    }
    first_choice_.push_back(static_cast<uint32_t>(choices_.size()));
  }
}

void MinHopRouter::OpenBlocks(mad::Lid lid) {
  const uint32_t block =
      static_cast<uint16_t>(lid) / uint32_t{LinearTable::kBlockEntries};
  if (block == block_) return;
  block_ = block;
  for (size_t i = 0; i < states_.size(); ++i) {
    blocks_[i] = &states_[i]->linear.Edit(block);
  }
}

// From the farthest switches on, so that each knows how many paths come
// through it when it chooses.
void MinHopRouter::RouteHost(Switch destination, const Host& host) {
  if (host.lid == mad::Lid::kUnassigned) return;
  OpenBlocks(host.lid);
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

// Switches are no one's peers: any of the shortest ways will do.
void MinHopRouter::RouteSwitch(Switch destination) {
  const mad::Lid lid = lids_[destination];
  OpenBlocks(lid);
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

}  // namespace ibemu::fabric
