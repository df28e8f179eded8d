#include "daemon/events/event_log.h"

#include "control/rpc.h"
#include "daemon/words/port_text.h"
#include "mad/wire/port_codes.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

using nlohmann::json;

EventLog::EventLog(Timers& timers, absl::Duration wall_clock)
    : timers_(timers), start_(timers.Now()), wall_clock_(wall_clock) {}

EventLog::KnownPort::KnownPort(const mad::PortInfo& info)
    : state(info.port_state),
      is_sm((info.capability_mask & mad::capability::kIsSm) != 0),
      lmc(info.lmc),
      lid(info.lid),
      sm_lid(info.master_sm_lid) {}

void EventLog::Add(EventListener& listener) {
  const bool first = !Listened();
  listeners_.Add(listener);
  if (first) Begin();
}

void EventLog::Remove(const EventListener& listener) {
  listeners_.Remove(listener);
  if (!Listened()) End();
}

json EventLog::Stamp(std::string_view kind, const json& fields) const {
  const absl::Time now = timers_.Now();
  json event = {
      {"time_ns", absl::ToInt64Nanoseconds(now - start_)},
      {"wall", absl::FormatTime("%Y-%m-%dT%H:%M:%E9SZ", now + wall_clock_,
                                absl::UTCTimeZone())},
      {"event", kind}};
  event.update(fields);
  return event;
}

void EventLog::Tell(std::string_view kind, const json& fields) {
  if (!Listened()) return;
  const std::string line = control::Dump(Stamp(kind, fields));
  listeners_.ForEach(
      [&](EventListener& listener) { listener.OnEvent(kind, line); });
}

void EventLog::TellDetail(std::string_view kind, const json& fields) {
  if (!DetailsWanted(kind)) return;
  const std::string line = control::Dump(Stamp(kind, fields));
  listeners_.ForEach([&](EventListener& listener) {
    if (listener.WantsDetails()) listener.OnEvent(kind, line);
  });
}

bool EventLog::Wanted(std::string_view kind) {
  bool wanted = false;
  listeners_.ForEach([&](const EventListener& listener) {
    wanted = wanted || listener.Wants(kind);
  });
  return wanted;
}

bool EventLog::DetailsWanted(std::string_view kind) {
  bool wanted = false;
  listeners_.ForEach([&](const EventListener& listener) {
    wanted = wanted || (listener.WantsDetails() && listener.Wants(kind));
  });
  return wanted;
}

void EventLog::TellPort(const json& end, const KnownPort& before,
                        const KnownPort& now) {
  if (before.is_sm != now.is_sm) {
    json event = end;
    event["is_sm"] = now.is_sm;
    Tell("sm", event);
  }
  KnownPort rest = before;
  rest.is_sm = now.is_sm;
  if (rest == now) return;
  json event = end;
  event["state"] = PortStateText(now.state);
  event["lid"] = static_cast<unsigned>(now.lid);
  event["lmc"] = now.lmc;
  event["sm_lid"] = static_cast<unsigned>(now.sm_lid);
  Tell("port", event);
}

}  // namespace ibemu::daemon
