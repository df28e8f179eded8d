// Events for people.
#ifndef IBEMU_DAEMON_EVENTS_EVENT_TEXT_H_
#define IBEMU_DAEMON_EVENTS_EVENT_TEXT_H_

#include <string>

#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// "    2.000000  link      node-1/1 - sw1/3 down".  Whatever is in `event`.
std::string EventText(const nlohmann::json& event);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_EVENTS_EVENT_TEXT_H_
