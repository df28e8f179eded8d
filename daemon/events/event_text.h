// The text of events for people.
#ifndef IBEMU_DAEMON_EVENTS_EVENT_TEXT_H_
#define IBEMU_DAEMON_EVENTS_EVENT_TEXT_H_

#include <string>

#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// Returns the line of an event: "    2.000000  link        node-1/1 -
// sw1/3 down".  Accepts whatever is in `event`.
std::string EventText(const nlohmann::json& event);
// Returns the same without the time and the kind.
std::string EventWhat(const nlohmann::json& event);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_EVENTS_EVENT_TEXT_H_
