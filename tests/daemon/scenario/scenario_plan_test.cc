#include "daemon/scenario/scenario_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace ibemu::daemon {
namespace {

using ::testing::ElementsAre, ::testing::HasSubstr, ::testing::IsEmpty,
    ::testing::SizeIs;

ScenarioPlan Parse(const std::string& text) {
  topology::FaultList faults;
  ScenarioPlan plan = ParseScenario(text, "lab.yaml", faults);
  EXPECT_TRUE(faults.ToStatus().ok()) << faults.ToStatus();
  return plan;
}

std::string Faults(const std::string& text) {
  topology::FaultList faults;
  ParseScenario(text, "lab.yaml", faults);
  return std::string(faults.ToStatus().message());
}

TEST(ScenarioPlanTest, AListOfStepsIsAScenario) {
  const ScenarioPlan plan = Parse(R"(
- at: 2s
  do: link node-1/1 down
- {at: 2.5s, do: fault reset}
)");
  EXPECT_EQ(plan.file, "lab.yaml");
  EXPECT_EQ(plan.seed, std::nullopt);
  EXPECT_THAT(plan.steps,
              ElementsAre(ScenarioStep{.line = 3,
                                       .at = absl::Seconds(2),
                                       .command = "link node-1/1 down"},
                          ScenarioStep{.line = 4,
                                       .at = absl::Milliseconds(2500),
                                       .command = "fault reset"}));
}

TEST(ScenarioPlanTest, AStepMayDoSeveralThingsAndRepeatThem) {
  const ScenarioPlan plan = Parse(R"(
seed: 7
steps:
  - at: 1s
    every: 500ms
    until: 3s
    do:
      - link node-1/1 down
      - link node-1/1 up
  - {at: 0s, every: 1s, repeat: 3, do: fault reset}
  - {at: 0s, every: 1s, do: fault reset}
)");
  EXPECT_EQ(plan.seed, 7);
  ASSERT_THAT(plan.steps, SizeIs(4));
  EXPECT_EQ(plan.steps[0].every, absl::Milliseconds(500));
  EXPECT_EQ(plan.steps[0].times, 5);  // 3s is one of them
  EXPECT_EQ(plan.steps[1].line, 9);
  EXPECT_EQ(plan.steps[1].command, "link node-1/1 up");
  EXPECT_EQ(plan.steps[2].times, 3);
  EXPECT_EQ(plan.steps[3].times, ScenarioStep::kForever);
}

TEST(ScenarioPlanTest, AllMistakesAreToldAtOnceEachWithItsLine) {
  EXPECT_EQ(Faults(R"(seed: x
steps:
  - at: soon
    do: link node-1 down
  - do: link node-1/1 down
  - at: 1s
  - at: 1s
    doo: fault reset
  - {at: 1s, do: lnik node-1/1 down}
  - {at: 5s, every: 1s, until: 2s, do: fault reset}
  - {at: 5s, until: 9s, do: fault reset}
  - {at: 5s, every: 1s, until: 9s, repeat: 2, do: fault reset}
  - {at: 5s, every: 1us, do: fault reset}
  - {at: 5s, every: 1s, repeat: 0, do: fault reset}
  - {at: 5s, at: 6s, do: fault reset}
  - just words
  - {at: -1s, do: [[fault reset], {a: b}]}
)"),
            R"(lab.yaml:1: seed: write a whole number below 2^63
lab.yaml:3: at "soon": write a time, as in 2s or 500ms
lab.yaml:4: "node-1" names no port: write NODE/PORT, as in sw1/3
lab.yaml:5: the step does not say when: add at
lab.yaml:6: the step does not say what: add do
lab.yaml:7: the step does not say what: add do
lab.yaml:8: there is no "doo" here: did you mean "do"?
lab.yaml:9: "lnik" is no command of a scenario, which has link, node, device, counter and fault: did you mean "link"?
lab.yaml:10: until is before at
lab.yaml:11: until and repeat need every
lab.yaml:12: until and repeat both say how often: leave one out
lab.yaml:13: every 1us: a time is from 1ms to 8784h
lab.yaml:14: repeat: write a number from 1 on
lab.yaml:15: "at" is there twice
lab.yaml:16: a step has at and do, as in "at: 2s"
lab.yaml:17: at -1s: a time is from 0 to 8784h
lab.yaml:17: do: write a command, as in link node-1/1 down)");
}

TEST(ScenarioPlanTest, WhatIsNoScenarioIsSaidInOneSentence) {
  EXPECT_THAT(Faults(""),
              HasSubstr("lab.yaml:1: a scenario is a list of steps"));
  EXPECT_THAT(Faults("seed: 1"), HasSubstr("there are no \"steps\""));
  EXPECT_THAT(Faults("[]"), HasSubstr("there are no steps"));
  EXPECT_THAT(Faults("steps: 5"), HasSubstr("steps: write a list"));
  EXPECT_THAT(Faults("stesp: []"),
              HasSubstr("no \"stesp\" here: did you mean \"steps\"?"));
}

TEST(ScenarioPlanTest, WhatIsNoYamlHasItsLineToo) {
  EXPECT_THAT(Faults("- at: 1s\n  do: {"), HasSubstr("lab.yaml:2: "));
  EXPECT_THAT(Faults("- &a [*b]"), HasSubstr("lab.yaml:1: "));
  EXPECT_THAT(Faults(std::string(5000, '[')), HasSubstr("lab.yaml:1: "));
}

TEST(ScenarioPlanTest, TheNumberOfStepsIsLimited) {
  std::string text;
  for (size_t i = 0; i < kMaxScenarioSteps; ++i) {
    absl::StrAppend(&text, "- {at: 1s, do: fault reset}\n");
  }
  EXPECT_THAT(Parse(text).steps, SizeIs(kMaxScenarioSteps));
  EXPECT_EQ(Faults(text + "- {at: 1s, do: fault reset}\n"),
            "lab.yaml:1001: a scenario has at most 1000 commands");
}

}  // namespace
}  // namespace ibemu::daemon
