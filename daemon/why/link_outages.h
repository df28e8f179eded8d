// LinkOutages: when the links of a subnet were down.
#ifndef IBEMU_DAEMON_WHY_LINK_OUTAGES_H_
#define IBEMU_DAEMON_WHY_LINK_OUTAGES_H_

#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "fabric/fabric.h"
#include "fabric/subnet/fabric_watcher.h"

namespace ibemu::daemon {

// A LinkOutages watches a fabric and keeps the last time that each port was
// down.  It knows nothing of ports that have been up all the time.
class LinkOutages : fabric::FabricWatcher {
 public:
  struct Outage {
    absl::Time begin{};
    absl::Time end = absl::InfiniteFuture();  // of one that lasts
  };

  // Both must outlive this.
  LinkOutages(Timers& timers, fabric::Fabric& fabric);
  ~LinkOutages();
  LinkOutages(const LinkOutages&) = delete;
  LinkOutages& operator=(const LinkOutages&) = delete;

  // Returns the port's last outage, if it was down at that time.
  std::optional<Outage> FindAt(fabric::PortId port, absl::Time time) const;

 private:
  void OnPortChange(fabric::PortId port) override;
  void OnTrap(fabric::PortId, const mad::Notice&, bool) override {}
  void OnDrop(const fabric::DroppedPacket&) override {}

  Timers& timers_;
  fabric::Fabric& fabric_;
  absl::flat_hash_map<fabric::PortId, Outage> outages_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_LINK_OUTAGES_H_
