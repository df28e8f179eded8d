// What happens to adapters by MMIO.
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

// Their ports' changes, and that one dies.  What is on the cables no adapter
// tells.
class AdapterEventLog : public EventLog, HcaAdapters::Watcher {
 public:
  // As EventLog's; `adapters` must outlive this, too, and get no more of them
  // while somebody listens.
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
  // By adapter and port; empty while nobody listens.
  std::vector<std::vector<KnownPort>> ports_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADAPTERS_ADAPTER_EVENT_LOG_H_
