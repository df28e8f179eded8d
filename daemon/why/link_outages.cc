#include "daemon/why/link_outages.h"

#include <algorithm>

#include "fabric/subnet/subnet.h"

namespace ibemu::daemon {

LinkOutages::LinkOutages(Timers& timers, fabric::Fabric& fabric)
    : timers_(timers), fabric_(fabric) {
  fabric_.AddWatcher(*this);
}

LinkOutages::~LinkOutages() { fabric_.RemoveWatcher(*this); }

std::optional<LinkOutages::Outage> LinkOutages::FindBefore(
    fabric::PortId port, absl::Time time) const {
  const auto found = outages_.find(port);
  if (found == outages_.end()) return std::nullopt;
  const std::deque<Outage>& all = found->second;
  const auto at = std::find_if(
      all.rbegin(), all.rend(),
      [time](const Outage& outage) { return outage.begin <= time; });
  if (at == all.rend()) return std::nullopt;
  return *at;
}

// Told of every change of a port, most of which are others.
void LinkOutages::OnPortChange(fabric::PortId port) {
  const auto known = outages_.find(port);
  const bool was_up = known == outages_.end() ||
                      known->second.back().end != absl::InfiniteFuture();
  const bool up = fabric_.subnet().port(port).IsUp();
  if (was_up == up) return;
  if (up) {
    known->second.back().end = timers_.Now();
    return;
  }
  std::deque<Outage>& all = outages_[port];
  if (all.size() == kMax) all.pop_front();
  all.push_back(Begin(port));
}

LinkOutages::Outage LinkOutages::Begin(fabric::PortId port) const {
  const fabric::Subnet& subnet = fabric_.subnet();
  Outage outage{.begin = timers_.Now(), .fault = fabric_.CutBy(port)};
  for (const fabric::PortId end : {port, subnet.port(port).peer}) {
    if (end == fabric::kNoPort) continue;
    const fabric::Node& node = subnet.NodeOf(end);
    if (node.on && node.plugged) continue;
    outage.node = subnet.port(end).node;
    outage.unplugged = !node.plugged;
  }
  return outage;
}

}  // namespace ibemu::daemon
