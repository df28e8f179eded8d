#include "daemon/scenario/scenario_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "daemon/events/fabric_event_log.h"
#include "daemon/subnet/fabric_methods.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "testing/socket_pair.h"
#include "tests/daemon/connection.h"
#include "tests/daemon/virtual_loop.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::ElementsAre, ::testing::HasSubstr, ::testing::IsEmpty;
using testing::Lab, testing::Chain;

class ScenarioMethodsTest : public ::testing::Test {
 protected:
  ScenarioMethodsTest() {
    changes_.AddTo(dispatcher_);
    faults_.AddTo(dispatcher_);
    scenarios_.AddTo(dispatcher_);
  }

  static ScenarioPlan Plan(const std::string& text) {
    topology::FaultList faults;
    ScenarioPlan plan = ParseScenario(text, "lab.yaml", faults);
    EXPECT_TRUE(faults.ToStatus().ok()) << faults.ToStatus();
    return plan;
  }

  json Call(const char* method, const json& parameters) {
    const json request = {
        {"id", 1}, {"method", method}, {"params", parameters}};
    return json::parse(dispatcher_.Handle(request.dump(), connection_));
  }

  // The sentence of the error; empty when there is none.
  std::string RunPlan(const json& plan) {
    std::tie(reader_, connection_.descriptor) = testing::SocketPair();
    const json answer = Call("scenario.run", plan);
    return answer.contains("error")
               ? answer["error"]["message"].get<std::string>()
               : "";
  }
  std::string Run(const std::string& text) {
    return RunPlan(DescribePlan(Plan(text)));
  }

  // What the client is told: "step:3@2000000000", "ended".
  std::vector<std::string> Told() {
    loop_.Poll();
    std::vector<char> bytes(1 << 16);
    const ssize_t size =
        recv(reader_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    std::vector<std::string> told;
    if (size <= 0) return told;
    const std::string text(bytes.data(), static_cast<size_t>(size));
    for (const auto line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      const json event = json::parse(line);
      EXPECT_EQ(event["event"], "scenario");
      EXPECT_EQ(event["file"], "lab.yaml");
      std::string one = event["state"];
      if (event.contains("line"))
        absl::StrAppend(&one, ":", event["line"].get<int>());
      if (event.contains("at_ns")) {
        absl::StrAppend(&one, "@", event["at_ns"].get<int64_t>());
      }
      if (event.contains("error")) {
        absl::StrAppend(&one, " ", event["error"].get<std::string>());
      }
      told.push_back(one);
    }
    return told;
  }

  bool IsUp() { return lab_.PortOf(lab_.Host(1), 1).IsUp(); }

  Lab lab_{Chain(1), Lab::kStatically};
  VirtualLoop loop_{lab_.timers};
  FabricEventLog log_{lab_.timers, lab_.fabric, absl::ZeroDuration()};
  FabricMethods changes_{lab_.timers, lab_.fabric};
  FaultMethods faults_{lab_.timers, lab_.fabric, log_};
  control::MethodTable dispatcher_;
  ScenarioMethods scenarios_{loop_, lab_.fabric, faults_, log_, dispatcher_};
  Connection connection_;
  UniqueFd reader_;
};

TEST_F(ScenarioMethodsTest, StepsAreDoneAtTheirTimesAndTold) {
  ASSERT_EQ(Run("- {at: 2s, do: link host-1/1 down}\n"
                "- {at: 3s, do: link host-1/1 up}\n"),
            "");
  EXPECT_THAT(Told(), ElementsAre("started"));
  lab_.timers.RunFor(absl::Seconds(2) - absl::Nanoseconds(1));
  EXPECT_TRUE(IsUp());
  lab_.timers.RunFor(absl::Nanoseconds(1));
  EXPECT_FALSE(IsUp());
  EXPECT_THAT(Told(), ElementsAre("step:1@2000000000"));
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_TRUE(IsUp());
  EXPECT_THAT(Told(), ElementsAre("step:2@3000000000", "ended"));
}

TEST_F(ScenarioMethodsTest, FaultsComeAndGo) {
  ASSERT_EQ(Run("- {at: 1s, do: fault add --name=x link host-1/1 loss 100%}\n"
                "- {at: 2s, do: fault rm x}\n"),
            "");
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_TRUE(faults_.Has("x"));
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_FALSE(faults_.Has("x"));
}

TEST_F(ScenarioMethodsTest, AStepThatCannotBeDoneEndsItWithItsLine) {
  ASSERT_EQ(Run("- {at: 1s, do: fault add --name=x link host-1/1 loss 0%}\n"
                "- {at: 2s, do: fault add --name=x link host-1/1 loss 0%}\n"
                "- {at: 3s, do: link host-1/1 down}\n"),
            "");
  lab_.timers.RunFor(absl::Seconds(10));
  EXPECT_THAT(Told(),
              ElementsAre("started", "step:1@1000000000", "step:2@2000000000",
                          "failed:2 there is a fault \"x\" already: remove it, "
                          "or take another name"));
  EXPECT_TRUE(IsUp());
}

TEST_F(ScenarioMethodsTest, WhenItsClientGoesTheRestIsNotDone) {
  ASSERT_EQ(Run("- {at: 1s, do: link host-1/1 down}\n"), "");
  connection_.kept.clear();
  lab_.timers.RunFor(absl::Seconds(2));
  EXPECT_TRUE(IsUp());
}

TEST_F(ScenarioMethodsTest, OneIsPlayedAtATime) {
  const std::string text = "- {at: 1s, do: fault reset}\n";
  ASSERT_EQ(Run(text), "");
  EXPECT_EQ(Run(text),
            "the fabric plays a scenario already: end that one first");
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(Run(text), "");
}

TEST_F(ScenarioMethodsTest, WhatTheFabricDoesNotHaveIsFoundBeforeTheStart) {
  const ScenarioPlan plan = Plan(
      "- {at: 1s, do: link host-1/1 down}\n"
      "- {at: 1s, do: link sw1/9 down}\n"
      "- {at: 1s, do: link sw1/3 down}\n"
      "- {at: 1s, do: node hots-1 down}\n"
      "- {at: 1s, do: device hots-1 add}\n"
      "- {at: 1s, do: fault add link sw1/9 loss 1%}\n"
      "- {at: 1s, do: fault add --name=/ link sw1/1 loss 1%}\n"
      "- {at: 1s, do: fault add --name=known node sw1 slow 1ms}\n"
      "- {at: 1s, do: fault rm known}\n"
      "- {at: 1s, do: fault rm knwon}\n");
  const json faults =
      Call("scenario.check", DescribePlan(plan))["result"]["faults"];
  EXPECT_EQ(
      faults,
      (json{{{"line", 2},
             {"what", "port 9 of \"sw1\" does not exist: it has ports 1 to 8"}},
            {{"line", 3}, {"what", "port 3 of \"sw1\" has no cable"}},
            {{"line", 4},
             {"what", "no node \"hots-1\": did you mean \"host-1\"?"}},
            {{"line", 5},
             {"what", "no node \"hots-1\": did you mean \"host-1\"?"}},
            {{"line", 6},
             {"what", "port 9 of \"sw1\" does not exist: it has ports 1 to 8"}},
            {{"line", 7},
             {"what",
              "\"/\" is no name of a fault: it has 1 to 64 letters, digits, "
              "\"-\", \"_\" or \".\""}},
            {{"line", 10},
             {"what", "no fault \"knwon\": did you mean \"known\"?"}}}));
  EXPECT_EQ(
      RunPlan(DescribePlan(plan)),
      "lab.yaml:2: port 9 of \"sw1\" does not exist: it has ports 1 to 8");
  EXPECT_THAT(connection_.kept, IsEmpty());
}

TEST_F(ScenarioMethodsTest, APlanThatNoClientMakesIsRefused) {
  const json step = {{"line", 1}, {"at_ns", 0}, {"do", "fault reset"}};
  const auto with = [&](const char* key, const json& value) {
    json plan = {{"file", "x"}, {"steps", {step}}};
    plan["steps"][0][key] = value;
    return plan;
  };
  EXPECT_THAT(RunPlan(json{{"steps", 5}}), HasSubstr("an array of objects"));
  EXPECT_THAT(RunPlan(json{{"steps", json::array()}}),
              HasSubstr("a step at least"));
  EXPECT_THAT(RunPlan(with("at_ns", -1)), HasSubstr("\"at_ns\" must be"));
  EXPECT_THAT(RunPlan(with("times", 2)), HasSubstr("\"every_ns\""));
  EXPECT_THAT(RunPlan(with("times", -1)), HasSubstr("\"times\" must be"));
  EXPECT_THAT(RunPlan(with("do", "link")),
              HasSubstr("x:1: write link NODE/PORT"));
  EXPECT_THAT(RunPlan(with("doo", 1)), HasSubstr("did you mean \"do\""));
  json many = {{"steps", json::array()}};
  for (size_t i = 0; i <= kMaxScenarioSteps; ++i) many["steps"].push_back(step);
  EXPECT_THAT(RunPlan(many), HasSubstr("at most 1000 commands"));
  connection_.descriptor.Reset();
  EXPECT_THAT(
      Call("scenario.run", {{"steps", {step}}})["error"].value("message", ""),
      HasSubstr("unix stream socket"));
}

}  // namespace
}  // namespace ibemu::daemon
