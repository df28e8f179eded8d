#include "daemon/web/view/view_calls.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string RequestFor(const char* method) {
  return json{{"id", 1}, {"method", method}}.dump();
}

TEST(ViewCallsTest, PagesLookAndChangeLinksNodesAndFaults) {
  for (const char* method :
       {"nodes", "links", "link.set", "node.set", "node.status", "fault.add",
        "fault.remove", "counter.get", "qp.list", "qp.show", "queue_pair.why",
        "connection.why"}) {
    EXPECT_TRUE(CheckViewCall(RequestFor(method)).ok()) << method;
  }
}

TEST(ViewCallsTest, WhatNeedsAConnectionIsNotForPages) {
  for (const char* method : {"attach", "capture.start", "events.start",
                             "scenario.start", "counter.set", ""}) {
    const absl::Status refusal = CheckViewCall(RequestFor(method));
    EXPECT_EQ(refusal.code(), absl::StatusCode::kPermissionDenied) << method;
    EXPECT_THAT(refusal.message(), HasSubstr("no method for pages"));
  }
}

TEST(ViewCallsTest, WhatIsNoRequestIsAnsweredAsTheControlSocketDoes) {
  control::MethodTable dispatcher;
  for (const char* body : {"", "{", "[]", "7", "{}", R"({"method": 7})"}) {
    ASSERT_TRUE(CheckViewCall(body).ok()) << body;
    const json answer = json::parse(AnswerViewCall(dispatcher, body));
    EXPECT_TRUE(answer.contains("error")) << body;
  }
}

TEST(ViewCallsTest, DeepNestingIsRefused) {
  control::MethodTable dispatcher;
  dispatcher.Add("status", [](control::Parameters&, control::Caller&) {
    return json::object();
  });
  const std::string body = R"({"id": 1, "method": "status", "params": {"a": )" +
                           std::string(7'000, '[') + std::string(7'000, ']') +
                           "}}";
  ASSERT_TRUE(CheckViewCall(body).ok());
  EXPECT_THAT(AnswerViewCall(dispatcher, body),
              HasSubstr("nests deeper than 64 levels"));
}

TEST(ViewCallsTest, ARequestIsCarriedOut) {
  control::MethodTable dispatcher;
  dispatcher.Add("status",
                 [](control::Parameters& parameters, control::Caller& caller) {
                   EXPECT_FALSE(caller.TakeDescriptor().valid());
                   return json{{"text", parameters.Text("a", "")}};
                 });
  const json answer = json::parse(AnswerViewCall(
      dispatcher, R"({"id": 5, "method": "status", "params": {"a": "b"}})"));
  EXPECT_EQ(answer["id"], 5);
  EXPECT_EQ(answer["result"]["text"], "b");
  EXPECT_EQ(AnswerViewCall(dispatcher, R"({"method": "status"})"), "");
}

}  // namespace
}  // namespace ibemu::daemon
