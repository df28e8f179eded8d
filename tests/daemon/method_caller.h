// Calls methods as a client of the control socket does, line by line.
#ifndef IBEMU_TESTS_DAEMON_METHOD_CALLER_H_
#define IBEMU_TESTS_DAEMON_METHOD_CALLER_H_

#include <gtest/gtest.h>

#include <string>

#include "control/method_table.h"
#include "nlohmann/json.hpp"
#include "tests/daemon/nobody.h"

namespace ibemu::daemon {

// Add the methods to `dispatcher`.
struct MethodCaller {
  using json = nlohmann::json;

  json Call(const std::string& method, const json& parameters) {
    NobodyInParticular caller;
    return json::parse(dispatcher.Handle(
        json{{"id", 1}, {"method", method}, {"params", parameters}}.dump(),
        caller));
  }
  json Result(const std::string& method, const json& parameters) {
    const json response = Call(method, parameters);
    EXPECT_TRUE(response.contains("result")) << response;
    return response.value("result", json());
  }
  std::string Error(const std::string& method, const json& parameters) {
    return Call(method, parameters)["error"].value("message", "");
  }

  control::MethodTable dispatcher;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_TESTS_DAEMON_METHOD_CALLER_H_
