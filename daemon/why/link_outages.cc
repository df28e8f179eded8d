#include "daemon/why/link_outages.h"

#include "fabric/subnet/subnet.h"

namespace ibemu::daemon {

LinkOutages::LinkOutages(Timers& timers, fabric::Fabric& fabric)
    : timers_(timers), fabric_(fabric) {
  fabric_.AddWatcher(*this);
}

LinkOutages::~LinkOutages() { fabric_.RemoveWatcher(*this); }

std::optional<LinkOutages::Outage> LinkOutages::FindAt(fabric::PortId port,
                                                       absl::Time time) const {
  const auto found = outages_.find(port);
  if (found == outages_.end() || time < found->second.begin ||
      time > found->second.end) {
    return std::nullopt;
  }
  return found->second;
}

// Told of every change of a port, most of which are others.
void LinkOutages::OnPortChange(fabric::PortId port) {
  const auto known = outages_.find(port);
  const bool was_up =
      known == outages_.end() || known->second.end != absl::InfiniteFuture();
  const bool up = fabric_.subnet().port(port).IsUp();
  if (was_up == up) return;
  if (up) {
    known->second.end = timers_.Now();
  } else {
    outages_.insert_or_assign(port, Outage{.begin = timers_.Now()});
  }
}

}  // namespace ibemu::daemon
