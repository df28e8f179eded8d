// Who listens to events, and keeps them.
#ifndef IBEMU_TESTS_DAEMON_EVENT_RECORDER_H_
#define IBEMU_TESTS_DAEMON_EVENT_RECORDER_H_

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "daemon/events/event_log.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

struct EventRecorder : EventListener {
  void OnEvent(std::string_view kind, std::string_view line) override {
    EXPECT_EQ(line.find('\n'), line.npos);
    events.push_back(nlohmann::json::parse(line));
    EXPECT_EQ(events.back()["event"], kind);
  }
  // Without their times.
  nlohmann::json Of(const char* kind) {
    nlohmann::json found = nlohmann::json::array();
    for (nlohmann::json event : events) {
      if (event["event"] != kind) continue;
      for (const char* key : {"event", "time_ns", "wall"}) event.erase(key);
      found.push_back(event);
    }
    return found;
  }
  std::vector<nlohmann::json> events;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_TESTS_DAEMON_EVENT_RECORDER_H_
