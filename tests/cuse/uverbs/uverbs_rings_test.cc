#include "cuse/uverbs/uverbs_rings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "testing/uverbs_commands.h"
#include "tests/cuse/uverbs/command_slots.h"
#include "tests/cuse/uverbs/promising_queue_pair.h"

namespace ibemu::cuse {
namespace {

using testing::Answered, testing::CommandBytes, testing::PlainCommand;
using ::testing::ElementsAre;
using ::testing::IsEmpty, ::testing::SizeIs;

constexpr std::byte kSeven{7};

constexpr uint32_t kQp = 5;

// A post of so many requests, as far as rings look at it.
CommandBytes Post(uint32_t command, uint32_t requests, uint32_t qp = kQp) {
  auto request = Answered<ib_uverbs_post_recv>(8);
  request.qp_handle = qp;
  request.wr_count = requests;
  return PlainCommand(command, request, 4);
}
CommandBytes Send(uint32_t requests = 1) {
  return Post(IB_USER_VERBS_CMD_POST_SEND, requests);
}
CommandBytes Receive(uint32_t requests = 1) {
  return Post(IB_USER_VERBS_CMD_POST_RECV, requests);
}

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
  std::function<void()> on_execute_;  // or null
  std::vector<size_t> executed_;      // slots
  std::vector<size_t> unawaited_;     // of these
  size_t executed_at_poll_ = 99;      // when taken completions were polled last
  std::map<size_t, std::vector<std::byte>> commands_, data_;

 private:
  bool MayCommand() override { return may_command_; }
  void PollTaken() override { executed_at_poll_ = executed_.size(); }
  void Execute(size_t slot, Bytes command, std::optional<Bytes> data,
               bool awaited) override {
    executed_.push_back(slot);
    if (!awaited) unawaited_.push_back(slot);
    commands_[slot] = {command.begin(), command.end()};
    if (data) data_[slot] = {data->begin(), data->end()};
    if (on_execute_) on_execute_();
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
  memory->slots[0].command_length = Slot::kMaxCommand + 1;
  rings_->CatchUp();
  EXPECT_THAT(executed_, IsEmpty());
  EXPECT_TRUE(closed());
}

TEST_F(UverbsRingsTest, EndForMoreDataThanASlotHas) {
  Ask(0, Poll(1));
  memory->slots[0].data_length = Slot::kMaxData + 1;
  rings_->CatchUp();
  EXPECT_THAT(executed_, IsEmpty());
  EXPECT_TRUE(closed());
}

// A client that need not wait for what it posts.
class UnawaitedTest : public UverbsRingsTest {
 protected:
  void Promise(verbs::QpPromise promise) {
    qp_.fake->free = promise;
    rings_->OnPromise(kQp, &qp_.object);
  }
  const fast_path::QueuePairPromise& told() const {
    return memory->PromiseOf(kQp);
  }

  uint32_t named() const { return static_cast<uint32_t>(told().queue_pair); }

  PromisingQueuePair qp_;
};

TEST_F(UnawaitedTest, APromiseIsTold) {
  Promise({.sends = 4, .receives = 6});
  EXPECT_EQ(named(), kQp + 1);
  EXPECT_EQ(told().type, static_cast<uint32_t>(verbs::QpType::kRc));
  EXPECT_EQ(told().send_sges, 2u);
  EXPECT_EQ(told().receive_sges, 3u);
  EXPECT_EQ(told().inline_bytes, 64u);
  EXPECT_EQ(told().sends_until, 4u);
  EXPECT_EQ(told().receives_until, 6u);
}

TEST_F(UnawaitedTest, SendersOfDatagramsAlwaysWait) {
  qp_.object.type = verbs::QpType::kUd;
  Promise({.sends = 4, .receives = 6});
  EXPECT_EQ(told().sends_until, 0u);
  EXPECT_EQ(told().receives_until, 6u);
}

TEST_F(UnawaitedTest, AQueuePairThatIsGonePromisesNothing) {
  Promise({.sends = 4});
  rings_->OnPromise(kQp + Memory::kQueuePairs, nullptr);
  EXPECT_EQ(named(), kQp + 1) << "another one in its place";
  rings_->OnPromise(kQp, nullptr);
  EXPECT_EQ(told().queue_pair, 0u);
}

TEST_F(UnawaitedTest, WhatIsPostedCountsBesideWhatIsPromised) {
  Promise({.sends = 4});
  Leave(0, Send(3));
  rings_->CatchUp();
  EXPECT_THAT(unawaited_, ElementsAre(0u));
  Promise({.sends = 2});
  EXPECT_EQ(told().sends_until, 5u);
}

TEST_F(UnawaitedTest, ASlotIsFreeOnceItsCommandIsCarriedOut) {
  Promise({.sends = 4});
  Leave(0, Send());
  rings_->CatchUp();
  EXPECT_FALSE(IsFree(0));
  rings_->Answer(0, Errno::kOk, std::vector{kSeven});
  EXPECT_TRUE(IsFree(0));
  EXPECT_FALSE(AnswerIn(0)) << "the slot may be another command's already";
}

TEST_F(UnawaitedTest, CommandsAreCarriedOutInTheirOrder) {
  Promise({.sends = 4});
  memory->asked_so_far = UINT32_MAX - 1;  // which is nothing special
  Leave(9, Send());
  Leave(2, Send());
  Ask(40, Poll(1));
  Leave(0, Send());
  rings_->CatchUp();
  EXPECT_THAT(executed_, ElementsAre(9u, 2u, 40u, 0u));
  EXPECT_THAT(unawaited_, ElementsAre(9u, 2u, 0u));
}

// A client that counts in its own way gets its own order, and harms nobody.
TEST_F(UnawaitedTest, AnyNumbersHaveAnOrder) {
  Promise({.sends = 64});
  for (size_t slot = 0; slot < Memory::kSlots; ++slot) {
    Leave(slot, Send());
    memory->slots[slot].order = slot == 32 ? 0x80000000 : 0;
  }
  rings_->CatchUp();
  EXPECT_THAT(executed_, SizeIs(Memory::kSlots));
  EXPECT_EQ(executed_[0], 32u) << "the farthest from the first, below it";
  EXPECT_FALSE(closed());
}

TEST_F(UnawaitedTest, ANameThatComesAgainIsAnotherOne) {
  Promise({.sends = 4});
  const uint64_t first = told().queue_pair;
  rings_->OnPromise(kQp + Memory::kQueuePairs, &qp_.object);
  EXPECT_EQ(named(), kQp + Memory::kQueuePairs + 1);
  Promise({.sends = 4});
  EXPECT_EQ(named(), kQp + 1);
  EXPECT_NE(told().queue_pair, first);
}

// Somebody's thread leaves a receive request and then waits for a command,
// while the daemon carries out others.
TEST_F(UnawaitedTest, ACommandFindsWhatItsThreadHasLeftBefore) {
  Promise({.receives = 1});
  Ask(0, Poll(1));
  on_execute_ = [this] {
    on_execute_ = nullptr;
    Leave(9, Receive());
    Ask(3, Receive());
  };
  rings_->CatchUp();
  rings_->CatchUp();
  EXPECT_THAT(executed_, ElementsAre(0u, 9u, 3u));
}

TEST_F(UnawaitedTest, ReceivesComeFirst) {
  Promise({.sends = 4, .receives = 4});
  Leave(0, Send());
  Leave(7, Receive());
  Leave(1, Receive());
  EXPECT_TRUE(set_.BeforeSleep()) << "nobody is served yet";
  rings_->CatchUp();
  EXPECT_THAT(executed_, ElementsAre(7u, 1u, 0u));
}

TEST_F(UnawaitedTest, ReceivesAreTakenAloneForAMessage) {
  Promise({.sends = 4, .receives = 4});
  Leave(0, Send());
  Leave(1, Receive());
  rings_->TakeReceives();
  EXPECT_THAT(executed_, ElementsAre(1u));
  rings_->TakeReceives();
  rings_->CatchUp();
  EXPECT_THAT(executed_, ElementsAre(1u, 0u));
}

TEST_F(UnawaitedTest, ReceivesOfWhoMayNotCommandAreNotTaken) {
  Promise({.receives = 4});
  Leave(1, Receive());
  may_command_ = false;
  rings_->TakeReceives();
  EXPECT_THAT(executed_, IsEmpty());
  EXPECT_TRUE(closed());
}

TEST_F(UnawaitedTest, AReceiveKeepsTheDaemonAwake) {
  rings_->CatchUp();
  Promise({.receives = 4});
  Leave(1, Receive());
  EXPECT_FALSE(set_.BeforeSleep());
}

TEST_F(UnawaitedTest, EndForWhoPostsMoreThanWasPromised) {
  Promise({.sends = 4, .receives = 2});
  Leave(0, Send(4));
  rings_->CatchUp();
  Leave(1, Send());
  rings_->CatchUp();
  EXPECT_THAT(executed_, ElementsAre(0u));
  EXPECT_TRUE(closed());
}

// Another thread has destroyed it meanwhile.
TEST_F(UnawaitedTest, APostToAQueuePairThatIsGoneIsNoBreach) {
  Promise({.sends = 4});
  rings_->OnPromise(kQp, nullptr);
  Leave(0, Send(5));
  rings_->CatchUp();
  EXPECT_THAT(unawaited_, ElementsAre(0u));
  EXPECT_FALSE(closed());
}

TEST_F(UnawaitedTest, EndForWhoDoesNotWaitForAPoll) {
  Leave(0, Poll(1));
  rings_->CatchUp();
  EXPECT_THAT(executed_, IsEmpty());
  EXPECT_TRUE(closed());
}

TEST_F(UnawaitedTest, EndForWhoHasOthersTakenAsReceives) {
  Promise({.sends = 4});
  Ask(0, Send());
  memory->asked = 0;
  memory->receives = 1;
  rings_->TakeReceives();
  EXPECT_THAT(executed_, IsEmpty());
  EXPECT_TRUE(closed());
}

// A post may rely on completions that its thread has taken before.
TEST_F(UverbsRingsTest, PollWhatTheClientHasTakenBeforeItsCommands) {
  Ask(0, Poll(1));
  rings_->CatchUp();
  EXPECT_EQ(executed_at_poll_, 0u);
  EXPECT_THAT(executed_, SizeIs(1));
}

TEST_F(UverbsRingsTest, AQueueHasAPlaceUntilItIsGone) {
  constexpr uint32_t kQueue = 3;
  constexpr uint32_t kOther = kQueue + Memory::kQueues;
  verbs::ClientCompletions* const place = rings_->PlaceFor(kQueue);
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(rings_->CompletionsOf(kQueue), place);
  EXPECT_EQ(rings_->PlaceFor(kOther), nullptr);
  rings_->OnCqGone(kOther);
  EXPECT_EQ(rings_->CompletionsOf(kQueue), place);
  rings_->OnCqGone(kQueue);
  EXPECT_EQ(memory->RingOf(kQueue).queue, 0u);
  EXPECT_EQ(rings_->CompletionsOf(kOther), nullptr);
  EXPECT_EQ(rings_->PlaceFor(kOther), place);
  EXPECT_EQ(memory->RingOf(kQueue).queue, kOther + 1u);
}

TEST_F(UverbsRingsTest, EndForWhoTakesWhatIsNotThere) {
  verbs::ClientCompletions* const place = rings_->PlaceFor(3);
  ASSERT_NE(place, nullptr);
  place->Open();
  ++memory->RingOf(3).consumer;
  EXPECT_EQ(place->taken(), 0u);
  EXPECT_FALSE(place->is_open());
  rings_->CompletionsOf(3);
  EXPECT_TRUE(closed());
}

TEST_F(UverbsRingsTest, KnowWhatWasTakenBeforeTheyWereClosed) {
  verbs::ClientCompletions* const place = rings_->PlaceFor(3);
  ASSERT_NE(place, nullptr);
  place->Open();
  place->Add({}, std::nullopt);
  ++memory->RingOf(3).consumer;
  rings_->Close();
  ASSERT_EQ(rings_->CompletionsOf(3), place);
  EXPECT_EQ(place->taken(), 1u);
  place->Open();
  EXPECT_FALSE(place->is_open());
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

}  // namespace
}  // namespace ibemu::cuse
