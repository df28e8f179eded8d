// The log of a back end's events, as lines of JSON.
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

// A receiver of events.
class EventListener {
 public:
  // Returns true if the listener wants events of `kind`.  An event that no
  // listener wants need not even be written down.
  virtual bool Wants(std::string_view /*kind*/) const { return true; }
  // Returns true if it wants details as well: events of which there may be a
  // million, as each packet that is dropped.
  virtual bool WantsDetails() const { return true; }

  // Called for each event, even if its kind is not wanted; of details only if
  // these are.  `line` is a JSON object without a newline; ibemu-events(7)
  // describes it.  The call must neither add nor remove listeners.
  virtual void OnEvent(std::string_view kind, std::string_view line) = 0;

 protected:
  ~EventListener() = default;
};

// An EventLog observes a back end and tells its listeners of events, as long as
// there are any.
class EventLog {
 public:
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  virtual ~EventLog() = default;

  // Returns the kinds of events of this back end, for clients that want only
  // some of them.
  virtual std::span<const std::string_view> kinds() const = 0;

  // Adds or removes a listener, which is not owned.
  void Add(EventListener& listener);
  void Remove(const EventListener& listener);
  bool Listened() const { return !listeners_.empty(); }
  // Whether a listener wants events, or details, of this kind.
  bool Wanted(std::string_view kind);
  bool DetailsWanted(std::string_view kind);

  // Tell the listeners of an event, or of a detail.  Anybody who knows of one
  // may call this.  `fields` is a JSON object.
  void Tell(std::string_view kind, const nlohmann::json& fields);
  void TellDetail(std::string_view kind, const nlohmann::json& fields);
  // Returns the event as it would be told now.
  nlohmann::json Stamp(std::string_view kind,
                       const nlohmann::json& fields) const;

 protected:
  // The state of a port as it is told.  A change is a difference from the state
  // that was told last.
  struct KnownPort {
    explicit KnownPort(const mad::PortInfo& info);
    bool operator==(const KnownPort&) const = default;

    mad::PortState state;
    bool is_sm;
    uint8_t lmc;
    wire::Lid lid, sm_lid;
  };

  // The time in events counts from now on.  `wall_clock` is the difference
  // between the time of day and the time of `timers`, which must outlive this
  // object.
  EventLog(Timers& timers, absl::Duration wall_clock);

  // Begin() is called when the first listener has been added, End() when the
  // last one has been removed.
  virtual void Begin() = 0;
  virtual void End() = 0;

  // Tells the events "sm" and "port" of a port, if it has changed.  `end` is
  // its node and number.
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
