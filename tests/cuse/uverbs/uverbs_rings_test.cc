#include "cuse/uverbs/uverbs_rings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <map>
#include <vector>

#include "testing/uverbs_commands.h"
#include "tests/cuse/uverbs/command_slots.h"

namespace ibemu::cuse {
namespace {

using testing::Answered, testing::CommandBytes, testing::PlainCommand;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::byte kSeven{7};

// A poll of so many completions.
CommandBytes Poll(uint32_t most) {
  auto request = Answered<ib_uverbs_poll_cq>(0x1000);
  request.ne = most;
  return PlainCommand(IB_USER_VERBS_CMD_POLL_CQ, request, 8 + most * 48);
}

class UverbsRingsTest : public ::testing::Test,
                        private UverbsRings::Owner,
                        protected CommandSlots {
 protected:
  UverbsRingsTest() {
    rings_.emplace(set_, RingSet::Client{.user = getuid(), .file = {}},
                   *SharedMemory::Of(getpid(), file.fd(), sizeof(Memory)),
                   static_cast<UverbsRings::Owner&>(*this));
  }

  RingSet set_;
  std::optional<UverbsRings> rings_;
  bool may_command_ = true;
  std::vector<size_t> executed_;  // slots
  std::map<size_t, std::vector<std::byte>> commands_, data_;

 private:
  bool MayCommand() override { return may_command_; }
  void Execute(size_t slot, Bytes command, std::optional<Bytes> data) override {
    executed_.push_back(slot);
    commands_[slot] = {command.begin(), command.end()};
    if (data) data_[slot] = {data->begin(), data->end()};
  }
};

TEST_F(UverbsRingsTest, ServeWhoCameByTheFile) {
  EXPECT_FALSE(served());
  rings_->CatchUp();
  EXPECT_TRUE(served());
}

TEST_F(UverbsRingsTest, CarryACommandAndItsAnswer) {
  rings_->CatchUp();
  Ask(3, Poll(1));
  EXPECT_TRUE(set_.Look());
  EXPECT_THAT(executed_, ElementsAre(3u));
  EXPECT_EQ(commands_[3], Poll(1));
  EXPECT_THAT(data_, IsEmpty());
  EXPECT_FALSE(AnswerIn(3));

  rings_->Answer(3, Errno::kInvalid, std::vector{kSeven});
  ASSERT_TRUE(AnswerIn(3));
  EXPECT_EQ(AnswerIn(3)->error, EINVAL);
  EXPECT_THAT(AnswerIn(3)->response, ElementsAre(kSeven));
  EXPECT_FALSE(set_.Look()) << "there is nothing else";
}

TEST_F(UverbsRingsTest, CarryDataThatTheClientHasRead) {
  Ask(0,
      PlainCommand(IB_USER_VERBS_CMD_POST_SEND,
                   Answered<ib_uverbs_post_send>(8), 4),
      std::vector{kSeven});
  rings_->CatchUp();
  EXPECT_THAT(data_[0], ElementsAre(kSeven));
}

TEST_F(UverbsRingsTest, AnswerInAnyOrder) {
  Ask(0, Poll(1));
  Ask(63, Poll(1));
  rings_->CatchUp();
  EXPECT_THAT(executed_, ElementsAre(0u, 63u));
  rings_->Answer(63, Errno::kOk, {});
  EXPECT_FALSE(AnswerIn(0));
  EXPECT_TRUE(AnswerIn(63));
}

TEST_F(UverbsRingsTest, TakeASlotAgainOnceItIsAnswered) {
  for (int i = 0; i < 3; ++i) {
    Ask(0, Poll(1));
    rings_->CatchUp();
    rings_->Answer(0, Errno::kOk, {});
  }
  EXPECT_THAT(executed_, ElementsAre(0u, 0u, 0u));
  EXPECT_FALSE(closed());
}

TEST_F(UverbsRingsTest, EndForWhoAsksTwiceInASlot) {
  Ask(0, Poll(1));
  rings_->CatchUp();
  Ask(0, Poll(1));
  rings_->CatchUp();
  EXPECT_THAT(executed_, ElementsAre(0u));
  EXPECT_TRUE(closed());
}

TEST_F(UverbsRingsTest, EndForLengthsThatNoSlotHas) {
  Ask(0, Poll(1));
  memory->slots[0].command_length = Slot::kMostCommand + 1;
  rings_->CatchUp();
  EXPECT_THAT(executed_, IsEmpty());
  EXPECT_TRUE(closed());
}

TEST_F(UverbsRingsTest, EndForMoreDataThanASlotHas) {
  Ask(0, Poll(1));
  memory->slots[0].data_length = Slot::kMostData + 1;
  rings_->CatchUp();
  EXPECT_THAT(executed_, IsEmpty());
  EXPECT_TRUE(closed());
}

class OtherCommandTest : public UverbsRingsTest,
                         public ::testing::WithParamInterface<CommandBytes> {};

TEST_P(OtherCommandTest, EndsTheRings) {
  Ask(0, GetParam());
  rings_->CatchUp();
  EXPECT_THAT(executed_, IsEmpty());
  EXPECT_TRUE(closed());
}

INSTANTIATE_TEST_SUITE_P(
    All, OtherCommandTest,
    ::testing::Values(CommandBytes(), CommandBytes(7), CommandBytes(64),
                      PlainCommand(IB_USER_VERBS_CMD_GET_CONTEXT,
                                   Answered<ib_uverbs_get_context>(8), 8),
                      PlainCommand(IB_USER_VERBS_CMD_CREATE_CQ,
                                   Answered<ib_uverbs_create_cq>(8), 8),
                      testing::ExtendedCommand(IB_USER_VERBS_CMD_POLL_CQ,
                                               Answered<ib_uverbs_poll_cq>(8),
                                               8, 56),
                      // An answer for which there is no room in a slot.
                      Poll(22)));

TEST_F(UverbsRingsTest, LeaveToTheFileWhatNobodyHasBegun) {
  Ask(1, Poll(1));
  rings_->Close();
  EXPECT_TRUE(closed());
  rings_->CatchUp();
  EXPECT_THAT(executed_, IsEmpty());
  EXPECT_EQ(memory->asked, 2u) << "the client takes it back";
}

TEST_F(UverbsRingsTest, EndWhenTheClientMayNotCommandAnyMore) {
  Ask(1, Poll(1));
  may_command_ = false;
  rings_->CatchUp();
  EXPECT_TRUE(closed());
  EXPECT_THAT(executed_, IsEmpty());
  EXPECT_EQ(memory->asked, 2u);
}

TEST_F(UverbsRingsTest, StillAnswerWhatHadBegunBeforeTheyWereClosed) {
  Ask(1, Poll(1));
  rings_->CatchUp();
  rings_->Close();
  EXPECT_FALSE(AnswerIn(1));
  rings_->Answer(1, Errno::kOk, {});
  EXPECT_TRUE(AnswerIn(1));
}

TEST_F(UverbsRingsTest, FailWhatHasNoAnswerAtTheEnd) {
  Ask(1, Poll(1));
  Ask(5, Poll(1));
  rings_->CatchUp();
  rings_.reset();
  EXPECT_EQ(AnswerIn(1)->error, EIO);
  EXPECT_EQ(AnswerIn(5)->error, EIO);
  EXPECT_TRUE(closed());
}

TEST_F(UverbsRingsTest, TellWhichQueuesAreEmpty) {
  EXPECT_FALSE(memory->IsEmpty(0));
  rings_->SetEmpty(0);
  rings_->SetEmpty(1);
  EXPECT_TRUE(memory->IsEmpty(0));
  EXPECT_TRUE(memory->IsEmpty(1));
  rings_->SetUnknown(0);
  EXPECT_FALSE(memory->IsEmpty(0));
  EXPECT_TRUE(memory->IsEmpty(1));
}

TEST_F(UverbsRingsTest, TellNothingOfOneQueueByAnother) {
  constexpr uint32_t kSamePlace = Memory::kQueues;
  rings_->SetEmpty(0);
  rings_->SetUnknown(kSamePlace);
  EXPECT_TRUE(memory->IsEmpty(0));
  EXPECT_FALSE(memory->IsEmpty(kSamePlace));
  rings_->SetEmpty(kSamePlace);
  EXPECT_FALSE(memory->IsEmpty(0));
}

}  // namespace
}  // namespace ibemu::cuse
