#include "fabric/history/sweep_history.h"

#include <gtest/gtest.h>

#include "fabric/sm/subnet_manager.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/port_codes.h"
#include "testing/lab.h"
#include "testing/mad_builder.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::Method;
using testing::DirectedGet, testing::Lab;

// A program of the first host is a subnet manager.
class SweepHistoryTest : public ::testing::Test {
 protected:
  SweepHistoryTest() { lab_.HostPort(1).SetIsSm(true); }

  void Send(Method method, AttributeId attribute = AttributeId::kNodeInfo) {
    mad::Outgoing packet = DirectedGet(attribute, {1});
    wire::Put<&mad::MadHeader::method>(packet.mad, method);
    ASSERT_TRUE(lab_.HostPort(1).Transmit(packet).ok());
    lab_.timers.RunPending();
  }
  const SweepHistory::Sweep* Last() {
    return lab_.fabric.sweeps().Last(lab_.IdOf("node-1", 1));
  }

  Lab lab_{"single-switch:hosts=2", Lab::kStatically};
};

TEST_F(SweepHistoryTest, WhatAManagerDoesWithoutALongPauseIsOneSweep) {
  const absl::Time begin = lab_.timers.Now();
  Send(Method::kGet);
  lab_.timers.RunFor(SweepHistory::kPause - absl::Nanoseconds(1));
  Send(Method::kSet);
  Send(Method::kGet);
  const SweepHistory::Sweep* sweep = Last();
  ASSERT_NE(sweep, nullptr);
  EXPECT_EQ(sweep->began, begin);
  EXPECT_EQ(sweep->last, lab_.timers.Now());
  EXPECT_EQ(sweep->gets, 2);
  EXPECT_EQ(sweep->sets, 1);
  EXPECT_TRUE(lab_.fabric.sweeps().IsUnderWay(*sweep));
}

TEST_F(SweepHistoryTest, AfterAPauseTheNextSweepBegins) {
  Send(Method::kGet);
  Send(Method::kGet);
  lab_.timers.RunFor(SweepHistory::kPause);
  EXPECT_FALSE(lab_.fabric.sweeps().IsUnderWay(*Last()));
  EXPECT_EQ(lab_.fabric.sweeps().Since(*Last()), SweepHistory::kPause);
  Send(Method::kGet);
  EXPECT_EQ(Last()->gets, 1);
  EXPECT_EQ(Last()->began, lab_.timers.Now());
}

TEST_F(SweepHistoryTest, QuestionsForOtherManagersAndAnswersAreNoSweep) {
  Send(Method::kGet, AttributeId::kSmInfo);
  Send(Method::kGetResp);
  Send(Method::kTrapRepress, AttributeId::kNotice);
  EXPECT_EQ(Last(), nullptr);
}

TEST_F(SweepHistoryTest, SmpsOfWhoIsNoManagerAreNoSweep) {
  lab_.HostPort(1).SetIsSm(false);
  Send(Method::kGet);
  EXPECT_EQ(Last(), nullptr);
}

TEST_F(SweepHistoryTest, QuestionsOnTheOtherSpecialQueuePairAreNoSweep) {
  ASSERT_TRUE(lab_.HostPort(1)
                  .Transmit(testing::LidGet(1, mad::MgmtClass::kPerformance,
                                            lab_.LidOf("node-2"),
                                            AttributeId::kClassPortInfo))
                  .ok());
  EXPECT_EQ(Last(), nullptr);
}

TEST(BuiltInSweepTest, TheBuiltInManagerSweepsWithoutSmpsWhenALinkGoesDown) {
  Lab lab("single-switch:hosts=2", Lab::kByItsManager);
  const SweepHistory& sweeps = lab.fabric.sweeps();
  const PortId home = lab.manager().port();
  ASSERT_NE(sweeps.Last(home), nullptr) << "it configured the subnet";
  lab.timers.RunFor(absl::Seconds(60));
  EXPECT_GE(sweeps.Since(*sweeps.Last(home)), absl::Seconds(59))
      << "there was nothing to do";
  lab.SetLink(lab.Host(2), 1, false);
  lab.timers.RunFor(absl::Seconds(1));
  const SweepHistory::Sweep* sweep = sweeps.Last(home);
  EXPECT_TRUE(sweeps.IsUnderWay(*sweep)) << "more may follow";
  EXPECT_EQ(sweep->gets + sweep->sets, 0);
}

}  // namespace
}  // namespace ibemu::fabric
