#include "fabric/sm/sm_dialogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/virtual_timers.h"
#include "tests/fabric/recorders.h"

namespace ibemu::fabric {
namespace {

using mad::SmInfo, mad::Smp, mad::SmState;
using ::testing::IsEmpty, ::testing::SizeIs;

constexpr PortId kPort{7};

class SmDialogueTest : public ::testing::Test {
 protected:
  SmDialogue::Answered Record() {
    return [this](const std::optional<SmInfo>& info) {
      ++answers_;
      last_ = info;
    };
  }
  Smp Sent(size_t index) {
    return wire::Decode<Smp>(mads_.sent.at(index).second.mad);
  }
  mad::MadBytes AnswerTo(size_t index,
                         mad::MadStatus status = mad::MadStatus::kOk) {
    Smp answer = Sent(index);
    answer.method = mad::Method::kGetResp;
    answer.status = status;
    wire::Encode(SmInfo{.priority = 4, .sm_state = SmState::kMaster},
                 answer.data);
    mad::MadBytes bytes;
    wire::Encode(answer, bytes);
    return bytes;
  }

  testing::VirtualTimers timers_;
  RecordedMads mads_;
  SmDialogue dialogue_{kPort, mads_, timers_};
  int answers_ = 0;
  std::optional<SmInfo> last_;
};

TEST_F(SmDialogueTest, AsksAlongThePath) {
  dialogue_.Get({3, 4}, Record());
  ASSERT_THAT(mads_.sent, SizeIs(1));
  EXPECT_EQ(mads_.sent[0].first, kPort);
  EXPECT_EQ(mads_.sent[0].second.qp, 0);
  const Smp smp = Sent(0);
  EXPECT_EQ(smp.mgmt_class, mad::MgmtClass::kSubnetDirectedRoute);
  EXPECT_EQ(smp.method, mad::Method::kGet);
  EXPECT_EQ(smp.attr_id, mad::AttributeId::kSmInfo);
  EXPECT_EQ(smp.hop_count, 2);
  EXPECT_EQ(smp.initial_path[1], 3);
  EXPECT_EQ(smp.initial_path[2], 4);
}

TEST_F(SmDialogueTest, GivesTheAnswerAndStops) {
  dialogue_.Get({3}, Record());
  EXPECT_TRUE(dialogue_.TakeAnswer(AnswerTo(0)));
  ASSERT_TRUE(last_.has_value());
  EXPECT_EQ(last_->priority, 4);
  EXPECT_FALSE(dialogue_.TakeAnswer(AnswerTo(0))) << "it came twice";
  timers_.RunFor(absl::Minutes(1));
  EXPECT_THAT(mads_.sent, SizeIs(1));
  EXPECT_EQ(answers_, 1);
  EXPECT_TRUE(timers_.idle());
}

TEST_F(SmDialogueTest, RepeatsThreeTimesAndGivesUp) {
  dialogue_.Get({3}, Record());
  timers_.RunFor(absl::Milliseconds(799));
  EXPECT_THAT(mads_.sent, SizeIs(4));
  EXPECT_EQ(answers_, 0);
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(mads_.sent, SizeIs(4));
  EXPECT_EQ(answers_, 1);
  EXPECT_EQ(last_, std::nullopt);
  EXPECT_FALSE(dialogue_.TakeAnswer(AnswerTo(0))) << "too late";
}

TEST_F(SmDialogueTest, AStatusIsNoAnswer) {
  dialogue_.Get({3}, Record());
  EXPECT_TRUE(
      dialogue_.TakeAnswer(AnswerTo(0, mad::MadStatus::kUnsupportedAttribute)));
  EXPECT_EQ(answers_, 1);
  EXPECT_EQ(last_, std::nullopt);
}

TEST_F(SmDialogueTest, ASetCarriesControlAndWhoSendsIt) {
  const SmInfo own{.guid = wire::Guid{0x77}, .priority = 1};
  dialogue_.Set({3}, SmControl::kHandover, own, Record());
  const Smp smp = Sent(0);
  EXPECT_EQ(smp.method, mad::Method::kSet);
  EXPECT_EQ(smp.attr_mod, 1u);
  EXPECT_EQ(wire::Decode<SmInfo>(smp.data), own);
}

TEST_F(SmDialogueTest, TellsItsQuestionsApart) {
  dialogue_.Get({3}, [](const auto&) { FAIL() << "nobody answered that"; });
  dialogue_.Get({4}, Record());
  EXPECT_TRUE(dialogue_.TakeAnswer(AnswerTo(1)));
  EXPECT_EQ(answers_, 1);
  dialogue_.Clear();
}

TEST_F(SmDialogueTest, TheNextQuestionMayFollowFromTheAnswer) {
  dialogue_.Get({3}, [this](const auto&) { dialogue_.Get({4}, Record()); });
  dialogue_.TakeAnswer(AnswerTo(0));
  dialogue_.TakeAnswer(AnswerTo(1));
  EXPECT_EQ(answers_, 1);
}

TEST_F(SmDialogueTest, WhatIsClearedIsNotHeardOfAgain) {
  dialogue_.Get({3}, Record());
  dialogue_.Clear();
  EXPECT_FALSE(dialogue_.TakeAnswer(AnswerTo(0)));
  timers_.RunFor(absl::Minutes(1));
  EXPECT_EQ(answers_, 0);
  EXPECT_TRUE(timers_.idle());
}

}  // namespace
}  // namespace ibemu::fabric
