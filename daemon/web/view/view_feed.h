// ViewFeed: the server-sent events of the live view.
#ifndef IBEMU_DAEMON_WEB_VIEW_VIEW_FEED_H_
#define IBEMU_DAEMON_WEB_VIEW_VIEW_FEED_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/timers.h"
#include "daemon/events/event_log.h"
#include "daemon/web/metrics/load_meter.h"
#include "daemon/web/view/event_backlog.h"
#include "fabric/fabric.h"
#include "fabric/subnet/fabric_watcher.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// A ViewFeed sends events to all open pages, from the loop thread.  While no
// page is open it hears of events only, and keeps the last kMaxPast of them.
// Pages get
//
//   past    once, at the beginning: those events, as an array, the oldest first
//   hello   once, after it: what is asked for from now on is not stale
//   event   what `ibemu events` tells, without details: there may be a million
//           in a second
//   change  {"links": [...], "nodes": [...]}: what is different now, each as
//           in the answer to `links` and `nodes`, a tenth of a second after the
//           first; {"all": true} when it is too much
//   load    each second {"links": [[GUID, port, bytes sent in a second, bytes
//           received in a second, share]], "others": n, "dropped": packets in
//           this second}
//   lost    see EventBacklog
class ViewFeed final : public EventListener, public fabric::FabricWatcher {
 public:
  static constexpr size_t kMaxChanges = 1000;
  static constexpr size_t kMaxPast = 200;

  // All must outlive this.
  ViewFeed(Timers& timers, fabric::Fabric& fabric, EventLog& events);
  ViewFeed(const ViewFeed&) = delete;
  ViewFeed& operator=(const ViewFeed&) = delete;
  ~ViewFeed();

  // Tells `page` from now on, as long as somebody else holds it.
  void Add(const std::shared_ptr<EventBacklog>& page);

  bool Watching() const { return !pages_.empty(); }

  bool WantsDetails() const override { return false; }
  void OnEvent(std::string_view kind, std::string_view line) override;
  void OnPortChange(fabric::PortId port) override;
  void OnTrap(fabric::PortId, const mad::Notice&, bool) override {}
  void OnDrop(const fabric::DroppedPacket&) override {}

 private:
  void Start();
  void Stop();
  void Tell(std::string_view name, std::string_view data);
  void Changed(fabric::PortId port);
  void TellChanges();
  // Looks at one slice, then at the next; after the last, tells the loads.
  void Look(size_t slice);
  void TellLoads();
  void LookForCuts(size_t slice);

  Timers& timers_;
  fabric::Fabric& fabric_;
  EventLog& events_;
  std::vector<std::weak_ptr<EventBacklog>> pages_;
  std::deque<std::string> past_;  // the oldest first
  absl::flat_hash_set<fabric::PortId> changed_;
  std::optional<LoadMeter> meter_;
  // By port: its cable was down at the last look.  A port that is down already
  // reports no change when its cable goes.
  std::vector<bool> cut_;
  uint64_t dropped_ = 0;
  absl::Time began_;
  TimerId next_look_ = TimerId::kNone, next_changes_ = TimerId::kNone;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_VIEW_VIEW_FEED_H_
