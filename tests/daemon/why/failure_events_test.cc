#include "daemon/why/failure_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tests/daemon/event_recorder.h"
#include "tests/daemon/why/lab_diagnosis.h"
#include "tests/fabric/verbs_pair.h"

namespace ibemu::daemon {
namespace {

using fabric::VerbsEnd;
using nlohmann::json;
using ::testing::IsEmpty, ::testing::SizeIs;

class FailureEventsTest : public fabric::VerbsPair {
 protected:
  void SendInVain() {
    ASSERT_TRUE(a_->Send(0, 10, 77).ok());
    Settle();
    ASSERT_THAT(a_->PollStatuses(), SizeIs(1));
  }

  FabricEventLog log_{lab_.timers, lab_.fabric, absl::ZeroDuration()};
  const LabDiagnosis why_{lab_};
  FailureEvents failures_{lab_.fabric, log_, why_.diagnosis};
  EventRecorder recorder_;
};

TEST_F(FailureEventsTest, TheFirstRequestOfAQueuePairThatFailsIsAnEvent) {
  log_.Add(recorder_);
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(a_->Send(0, 10, 77).ok());
  ASSERT_TRUE(a_->Send(0, 10, 78).ok());
  Settle();
  const json told = recorder_.Of("qp");
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0]["node"], "host-1");
  EXPECT_EQ(told[0]["qpn"], 2);
  EXPECT_EQ(told[0]["wr_id"], 77);
  EXPECT_EQ(told[0]["status"], "RNR_RETRY_EXC_ERR");
  EXPECT_EQ(told[0]["why"],
            "host-1 queue pair 0x2: work request 77 (SEND) ended with "
            "RNR_RETRY_EXC_ERR: host-2 queue pair 0x2 had no receive request "
            "at 4 tries of PSN 0xfffffe in 1.92ms");
}

TEST_F(FailureEventsTest, AQueuePairThatWasResetMayFailAnew) {
  log_.Add(recorder_);
  Connect(verbs::QpType::kRc);
  SendInVain();
  for (VerbsEnd* const end : {a_.get(), b_.get()}) {
    end->Modify({}, verbs::QpState::kReset);
  }
  VerbsEnd::Join(*a_, *b_);
  SendInVain();
  EXPECT_THAT(recorder_.Of("qp"), SizeIs(2));
}

TEST_F(FailureEventsTest, WhatSucceedsIsNone) {
  log_.Add(recorder_);
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  SendInVain();
  EXPECT_THAT(recorder_.Of("qp"), IsEmpty());
}

}  // namespace
}  // namespace ibemu::daemon
