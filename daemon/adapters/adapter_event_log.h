// The event log of adapters that are driven by MMIO.
#ifndef IBEMU_DAEMON_ADAPTERS_ADAPTER_EVENT_LOG_H_
#define IBEMU_DAEMON_ADAPTERS_ADAPTER_EVENT_LOG_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "base/timers.h"
#include "daemon/adapters/hca_adapters.h"
#include "daemon/events/event_log.h"

namespace ibemu::daemon {

// An AdapterEventLog tells of the changes of an adapter's ports (events "port"
// and "sm"), and of an adapter that has died ("device").  It has no events of
// links: an adapter does not say what is at the other ends of its cables.
class AdapterEventLog : public EventLog, HcaAdapters::Watcher {
 public:
  // The parameters are those of EventLog().  `adapters` must outlive this
  // object, too, and no adapter may be added to it while there is a listener.
  AdapterEventLog(Timers& timers, HcaAdapters& adapters,
                  absl::Duration wall_clock);
  ~AdapterEventLog() override;

  std::span<const std::string_view> kinds() const override;

 private:
  void Begin() override;
  void End() override;
  void OnPortChange(size_t adapter, int port) override;
  void OnGone(size_t adapter) override;

  HcaAdapters& adapters_;
  // The last state that was told, by adapter and port; empty while there is no
  // listener.
  std::vector<std::vector<KnownPort>> ports_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADAPTERS_ADAPTER_EVENT_LOG_H_
