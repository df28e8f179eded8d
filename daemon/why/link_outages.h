// LinkOutages: the times at which the links of a subnet were down.
#ifndef IBEMU_DAEMON_WHY_LINK_OUTAGES_H_
#define IBEMU_DAEMON_WHY_LINK_OUTAGES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "fabric/fabric.h"
#include "fabric/subnet/fabric_watcher.h"

namespace ibemu::daemon {

// A LinkOutages watches a fabric and keeps the last kMax times that each port
// was down.  It knows nothing of ports that have been up all the time.
class LinkOutages : fabric::FabricWatcher {
 public:
  static constexpr size_t kMax = 16;

  struct Outage {
    absl::Time begin{};
    absl::Time end = absl::InfiniteFuture();  // of one that lasts
    uint32_t fault = 0;  // the number of the one that cut it; 0: none
    // The node at one end that was switched off, or lost its adapter.
    std::optional<topology::NodeId> node{};
    bool unplugged = false;
  };

  // Both must outlive this.
  LinkOutages(Timers& timers, fabric::Fabric& fabric);
  ~LinkOutages();
  LinkOutages(const LinkOutages&) = delete;
  LinkOutages& operator=(const LinkOutages&) = delete;

  // Returns the last outage that had begun at that time, whether it was over
  // or not; nothing: none is known.
  std::optional<Outage> FindBefore(fabric::PortId port, absl::Time time) const;

 private:
  void OnPortChange(fabric::PortId port) override;
  void OnTrap(fabric::PortId, const mad::Notice&, bool) override {}
  void OnDrop(const fabric::DroppedPacket&) override {}

  // Finds out why the port goes down.
  Outage Begin(fabric::PortId port) const;

  Timers& timers_;
  fabric::Fabric& fabric_;
  // Of each port the latest last; none is empty.
  absl::flat_hash_map<fabric::PortId, std::deque<Outage>> outages_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_LINK_OUTAGES_H_
