// What happens, line by line.
#ifndef IBEMU_DAEMON_EVENTS_EVENT_LOG_H_
#define IBEMU_DAEMON_EVENTS_EVENT_LOG_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "base/observer_list.h"
#include "base/timers.h"
#include "mad/wire/port_info.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

class EventListener {
 public:
  // What nobody wants is not even written down: drops, of which there may be
  // many.
  virtual bool Wants(std::string_view /*kind*/) const { return true; }

  // `line`: a JSON object, without its newline; ibemu-events(7) describes it.
  // Neither adds nor removes listeners.  Also for kinds that are not wanted.
  virtual void OnEvent(std::string_view kind, std::string_view line) = 0;

 protected:
  ~EventListener() = default;
};

// Tells what a back end sees, while somebody listens.
class EventLog {
 public:
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  virtual ~EventLog() = default;

  // What an event of this back end may be, for who wants some of them only.
  virtual std::span<const std::string_view> kinds() const = 0;

  // Not owned.
  void Add(EventListener& listener);
  void Remove(const EventListener& listener);
  bool Listened() const { return !listeners_.empty(); }

  // An event, whoever knows of it.  `fields`: an object.
  void Tell(std::string_view kind, const nlohmann::json& fields);

 protected:
  // What is told of a port; a change is what differs from what was told last.
  struct KnownPort {
    explicit KnownPort(const mad::PortInfo& info);
    bool operator==(const KnownPort&) const = default;

    mad::PortState state;
    bool is_sm;
    uint8_t lmc;
    wire::Lid lid, sm_lid;
  };

  // Events count time from now on.  `wall_clock`: what makes the timers' time
  // the time of day.  `timers` must outlive this.
  EventLog(Timers& timers, absl::Duration wall_clock);

  // The first listener has come; the last one has gone.
  virtual void Begin() = 0;
  virtual void End() = 0;

  bool Wanted(std::string_view kind);
  // Events "sm" and "port" of a port.  `end`: its node and number.
  void TellPort(const nlohmann::json& end, const KnownPort& before,
                const KnownPort& now);

 private:
  Timers& timers_;
  const absl::Time start_;
  const absl::Duration wall_clock_;
  ObserverList<EventListener> listeners_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_EVENTS_EVENT_LOG_H_
