#include "cli/lab/lab_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/lab/lab_parser.h"

namespace ibemu::cli {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;

LabPlan PlanOf(const std::string& hosts) {
  topology::FaultList faults;
  LabPlan plan = ParseLab("hosts:\n" + hosts, "lab.yaml", faults);
  EXPECT_TRUE(faults.ToStatus().ok()) << faults.ToStatus();
  return plan;
}

TEST(LabStateTest, ALabEndsWithItsLastCommand) {
  const LabPlan plan = PlanOf("  node-1: a\n  node-2: b\n");
  LabState lab(plan);
  EXPECT_FALSE(lab.up());
  EXPECT_THAT(lab.TakeStarts(), ElementsAre(0, 1));
  EXPECT_TRUE(lab.up());
  EXPECT_THAT(lab.TakeStarts(), IsEmpty());
  lab.OnEnd(1, 0);
  EXPECT_FALSE(lab.ending());
  EXPECT_TRUE(lab.running(0));
  EXPECT_FALSE(lab.running(1));
  lab.OnEnd(0, 0);
  EXPECT_TRUE(lab.ending());
  EXPECT_TRUE(lab.ended());
  EXPECT_EQ(lab.status(), 0);
  EXPECT_EQ(lab.reason(), "");
}

TEST(LabStateTest, TheFirstThatFailsEndsTheLabWithItsStatus) {
  const LabPlan plan =
      PlanOf("  node-1: a\n  node-2: b\n  node-3: {run: c, after: node-1}\n");
  LabState lab(plan);
  EXPECT_THAT(lab.TakeStarts(), ElementsAre(0, 1));
  lab.OnEnd(1, 3);
  EXPECT_TRUE(lab.ending());
  EXPECT_FALSE(lab.ended());  // node-1 is to be ended
  lab.OnEnd(0, 143);
  EXPECT_TRUE(lab.ended());
  EXPECT_THAT(lab.TakeStarts(), IsEmpty());
  EXPECT_EQ(lab.status(), 3);
  EXPECT_EQ(lab.reason(), "lab.yaml:3: node-2: exit status 3");
}

TEST(LabStateTest, ASignalIsToldByItsName) {
  const LabPlan plan = PlanOf("  node-1: a\n");
  LabState lab(plan);
  lab.TakeStarts();
  lab.OnEnd(0, 139);
  EXPECT_EQ(lab.status(), 139);
  EXPECT_EQ(lab.reason(),
            "lab.yaml:2: node-1: ended by signal 11 (Segmentation fault)");
  LabState other(plan);
  other.TakeStarts();
  other.OnEnd(0, 255);
  EXPECT_EQ(other.reason(), "lab.yaml:2: node-1: exit status 255");
}

TEST(LabStateTest, AProgramStartsWhenThoseBeforeItHaveEnded) {
  const LabPlan plan = PlanOf(
      "  node-1: a\n  node-2: b\n  node-3: {run: c, after: [node-1, "
      "node-2]}\n");
  LabState lab(plan);
  EXPECT_THAT(lab.TakeStarts(), ElementsAre(0, 1));
  lab.OnEnd(0, 0);
  EXPECT_THAT(lab.TakeStarts(), IsEmpty());
  EXPECT_FALSE(lab.up());
  lab.OnEnd(1, 0);
  EXPECT_THAT(lab.TakeStarts(), ElementsAre(2));
  EXPECT_TRUE(lab.up());
}

TEST(LabStateTest, OrWhenTheySayThatTheyAreReady) {
  const LabPlan plan = PlanOf(
      "  node-1: {run: a, ready: is up}\n  node-2: {run: b, after: node-1}\n");
  LabState lab(plan);
  EXPECT_THAT(lab.TakeStarts(), ElementsAre(0));
  lab.OnLine(0, "SUBNET is UP");
  EXPECT_THAT(lab.TakeStarts(), IsEmpty());
  lab.OnLine(0, "it is up now");
  EXPECT_THAT(lab.TakeStarts(), ElementsAre(1));
  lab.OnLine(1, "without a ready, nothing happens");
  EXPECT_TRUE(lab.up());
}

TEST(LabStateTest, WhoEndsWithoutBeingReadyFailsThoseThatWait) {
  const LabPlan plan = PlanOf(
      "  node-1: {run: a, ready: up}\n  node-2: {run: b, after: node-1}\n");
  LabState lab(plan);
  lab.TakeStarts();
  lab.OnEnd(0, 0);
  EXPECT_TRUE(lab.ended());
  EXPECT_EQ(lab.status(), 1);
  EXPECT_EQ(lab.reason(),
            "lab.yaml:2: node-1: ended without a line that has \"up\" in it, "
            "which node-2 waits for");
}

TEST(LabStateTest, AndNobodyElse) {
  const LabPlan plan = PlanOf("  node-1: {run: a, ready: up}\n  node-2: b\n");
  LabState lab(plan);
  lab.TakeStarts();
  EXPECT_FALSE(lab.up());
  lab.OnEnd(0, 0);
  EXPECT_FALSE(lab.ending());
}

TEST(LabStateTest, ServicesAreEndedWithTheCommandsAndMayNotEndBefore) {
  const LabPlan plan =
      PlanOf("  node-1: {run: a, service: true}\n  node-2: b\n");
  LabState lab(plan);
  lab.TakeStarts();
  lab.OnEnd(1, 0);
  EXPECT_TRUE(lab.ending());
  EXPECT_FALSE(lab.ended());
  lab.OnEnd(0, 143);
  EXPECT_TRUE(lab.ended());
  EXPECT_EQ(lab.status(), 0);

  LabState other(plan);
  other.TakeStarts();
  other.OnEnd(0, 0);
  EXPECT_TRUE(other.ending());
  EXPECT_EQ(other.status(), 1);
  EXPECT_EQ(other.reason(),
            "lab.yaml:2: node-1: a service has ended, with exit status 0");
}

TEST(LabStateTest, ALabOfServicesGoesOnUntilItIsStopped) {
  const LabPlan plan = PlanOf("  node-1: {run: a, service: true}\n");
  LabState lab(plan);
  lab.TakeStarts();
  EXPECT_FALSE(lab.ending());
  lab.Stop(130, "ended by Interrupt");
  EXPECT_TRUE(lab.ending());
  lab.Stop(124, "later");
  lab.OnEnd(0, 0);
  EXPECT_TRUE(lab.ended());
  EXPECT_EQ(lab.status(), 130);
  EXPECT_EQ(lab.reason(), "ended by Interrupt");
}

TEST(LabStateTest, AScenarioMayEndEarlyButMustNotFail) {
  topology::FaultList faults;
  const LabPlan plan =
      ParseLab("hosts: {node-1: a}\nscenario: s.yaml", "lab.yaml", faults);
  LabState lab(plan);
  lab.TakeStarts();
  lab.OnEnd(1, 0);
  EXPECT_FALSE(lab.ending());

  LabState other(plan);
  other.TakeStarts();
  other.OnEnd(1, 1);
  EXPECT_TRUE(other.ending());
  EXPECT_EQ(other.reason(), "lab.yaml:2: scenario: exit status 1");
}

}  // namespace
}  // namespace ibemu::cli
