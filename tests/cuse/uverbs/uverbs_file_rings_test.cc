// A UverbsFile whose client has rings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include "base/supervisor_ioctls.h"
#include "cuse/uverbs/uverbs_file.h"
#include "fast_path/preload/completion_reader.h"
#include "fast_path/rings/attach_rings.h"
#include "testing/fake_device.h"
#include "testing/fake_provider.h"
#include "testing/post_box.h"
#include "testing/uverbs_commands.h"
#include "testing/virtual_timers.h"
#include "tests/cuse/file_driver.h"
#include "tests/cuse/uverbs/command_slots.h"

namespace ibemu::cuse {
namespace {

using testing::Answered, testing::CommandBytes, testing::PlainCommand;

// The client is this process.
class UverbsFileRingsTest : public ::testing::Test, protected CommandSlots {
 protected:
  UverbsFileRingsTest() {
    EXPECT_EQ(driver_.Open(), Errno::kOk);
    events_.Ioctl({.command = kNumberEventFile,
                   .in = verbs::AsBytes(kNumber),
                   .caller = getpid(),
                   .user = getuid()},
                  IoctlReply(driver_, RequestId{1000}));
  }

  Errno Attach(uint32_t version = fast_path::kRingsVersion) {
    const fast_path::AttachRings wanted = {version, file.fd()};
    return driver_
        .Ioctl({.command = fast_path::kAttachRings,
                .in = verbs::AsBytes(wanted),
                .caller = getpid(),
                .user = getuid(),
                .may_write = [this] { return ++questions_, may_write_; }})
        .error;
  }
  // By the file.
  template <class Response, class Request>
  Response Write(uint32_t number, Request request) {
    auto response = verbs::Blank<Response>();
    request.response = reinterpret_cast<uintptr_t>(&response);
    const RequestId write = driver_.StartWrite(
        PlainCommand(number, request, sizeof response), getpid());
    auto answer = driver_.AnswerTo(write);
    while (!answer) {
      posts_.WaitAndRun();
      answer = driver_.AnswerTo(write);
    }
    EXPECT_EQ(answer->error, Errno::kOk);
    return response;
  }
  uint32_t CreateQueue() {
    Write<ib_uverbs_get_context_resp>(IB_USER_VERBS_CMD_GET_CONTEXT,
                                      Answered<ib_uverbs_get_context>(0));
    auto request = Answered<ib_uverbs_create_cq>(0);
    request.cqe = 10;
    request.comp_channel = -1;
    return Write<ib_uverbs_create_cq_resp>(IB_USER_VERBS_CMD_CREATE_CQ, request)
        .cq_handle;
  }
  static CommandBytes Poll(uint32_t queue) {
    auto request = Answered<ib_uverbs_poll_cq>(0x1000);
    request.cq_handle = queue;
    request.ne = 1;
    return PlainCommand(IB_USER_VERBS_CMD_POLL_CQ, request, 8 + 48);
  }
  uint32_t CountIn(size_t slot) const {
    return verbs::ReadAs<ib_uverbs_poll_cq_resp>(AnswerIn(slot)->response)
        .count;
  }
  // Takes completions as a client does; nothing: it has to ask.
  std::optional<size_t> Take(uint32_t queue) {
    fast_path::CompletionReader reader;
    if (reader.Take(memory->RingOf(queue), queue, 4) ==
        fast_path::CompletionReader::Found::kUnknown) {
      return std::nullopt;
    }
    return reader.entries().size();
  }
  void Complete() {
    provider_.cq->completions.emplace_back();
    provider_.cq->listener.OnArrival();
  }

  static constexpr EventNumber kNumber = {.tid = 0, .number = 33};
  testing::VirtualTimers timers_;
  testing::PostBox posts_;
  testing::FakeDevice device_;
  testing::FakeProvider provider_;
  std::shared_ptr<mad::Host> host_ =
      std::make_shared<mad::Host>(timers_, device_);
  WorkerPool workers_{timers_, posts_.Poster()};
  std::shared_ptr<UverbsOffers> offers_ = std::make_shared<UverbsOffers>();
  RingSet set_;
  bool may_write_ = true;
  int questions_ = 0;  // whether it may
  std::unique_ptr<UverbsFile> file_ = std::make_unique<UverbsFile>(
      host_, provider_, verbs::AdapterIdentity{}, timers_, workers_, offers_,
      std::make_shared<PinnedPages>(0), &set_);
  FileDriver driver_{*file_};
  UverbsEventFile events_{offers_, std::nullopt};
};

TEST_F(UverbsFileRingsTest, AreAttachedOnce) {
  EXPECT_EQ(Attach(fast_path::kRingsVersion + 1), Errno::kInvalid);
  EXPECT_EQ(driver_.Ioctl(fast_path::kLookAtRings, {}).error, Errno::kNotTty);
  EXPECT_EQ(Attach(), Errno::kOk);
  EXPECT_EQ(Attach(), Errno::kBusy);
  EXPECT_EQ(driver_.Ioctl(fast_path::kLookAtRings, {}).error, Errno::kOk);
}

TEST_F(UverbsFileRingsTest, AreOnlyForWhoMayWrite) {
  may_write_ = false;
  EXPECT_EQ(Attach(), Errno::kAccess);
}

TEST_F(UverbsFileRingsTest, AreOfNoUseWhereNobodyLooks) {
  UverbsFile alone(host_, provider_, verbs::AdapterIdentity{}, timers_,
                   workers_, offers_, std::make_shared<PinnedPages>(0));
  FileDriver driver(alone);
  const fast_path::AttachRings wanted = {fast_path::kRingsVersion, file.fd()};
  EXPECT_EQ(driver.Ioctl(fast_path::kAttachRings, verbs::AsBytes(wanted)).error,
            Errno::kNotTty);
}

TEST_F(UverbsFileRingsTest, AnswerACommand) {
  ASSERT_EQ(Attach(), Errno::kOk);
  const uint32_t queue = CreateQueue();
  Complete();
  Ask(0, Poll(queue));
  EXPECT_TRUE(set_.Look());
  ASSERT_TRUE(AnswerIn(0));
  EXPECT_EQ(AnswerIn(0)->error, 0);
  EXPECT_EQ(CountIn(0), 1u);
}

TEST_F(UverbsFileRingsTest, FailACommandAsAWriteFails) {
  ASSERT_EQ(Attach(), Errno::kOk);
  const uint32_t queue = CreateQueue();
  Ask(0, Poll(queue + 1));
  EXPECT_TRUE(set_.Look());
  ASSERT_TRUE(AnswerIn(0));
  EXPECT_EQ(AnswerIn(0)->error, EINVAL);
}

TEST_F(UverbsFileRingsTest, HoldAnEmptyPoll) {
  ASSERT_EQ(Attach(), Errno::kOk);
  const uint32_t queue = CreateQueue();
  Ask(0, Poll(queue));
  set_.Look();
  EXPECT_FALSE(AnswerIn(0));
  Complete();
  timers_.RunPending();
  ASSERT_TRUE(AnswerIn(0));
  EXPECT_EQ(CountIn(0), 1u);
}

TEST_F(UverbsFileRingsTest, AreEmptiedBeforeACallThatCameByTheFile) {
  ASSERT_EQ(Attach(), Errno::kOk);
  const uint32_t queue = CreateQueue();
  Complete();
  Ask(0, Poll(queue));
  auto request = Answered<ib_uverbs_destroy_cq>(0);
  request.cq_handle = queue;
  Write<ib_uverbs_destroy_cq_resp>(IB_USER_VERBS_CMD_DESTROY_CQ, request);
  ASSERT_TRUE(AnswerIn(0));
  EXPECT_EQ(CountIn(0), 1u) << "the queue was still there";
}

TEST_F(UverbsFileRingsTest, GiveCompletionsToWhoPolls) {
  ASSERT_EQ(Attach(), Errno::kOk);
  const uint32_t queue = CreateQueue();
  EXPECT_EQ(Take(queue), std::nullopt) << "the daemon has to be asked";
  Ask(0, Poll(queue));
  set_.Look();
  EXPECT_EQ(Take(queue), 0u);
  Complete();
  EXPECT_EQ(memory->arrivals, 1u);
  EXPECT_EQ(Take(queue), 1u);
  EXPECT_EQ(Take(queue), 0u);
  timers_.RunPending();
  EXPECT_EQ(CountIn(0), 0u) << "the client was faster";
  EXPECT_THAT(provider_.cq->completions, ::testing::IsEmpty());
}

TEST_F(UverbsFileRingsTest, ACallByTheFileFindsWhatTheClientHasTakenPolled) {
  ASSERT_EQ(Attach(), Errno::kOk);
  const uint32_t queue = CreateQueue();
  Complete();
  Complete();
  Ask(0, Poll(queue));
  set_.Look();
  EXPECT_EQ(Take(queue), 1u);
  EXPECT_EQ(provider_.cq->completions.size(), 1u);
  Write<ib_uverbs_alloc_pd_resp>(IB_USER_VERBS_CMD_ALLOC_PD,
                                 Answered<ib_uverbs_alloc_pd>(0));
  EXPECT_TRUE(provider_.cq->completions.empty());
}

TEST_F(UverbsFileRingsTest, TellNothingOfAQueueThatWasDestroyed) {
  ASSERT_EQ(Attach(), Errno::kOk);
  const uint32_t queue = CreateQueue();
  Complete();
  Ask(0, Poll(queue));
  set_.Look();
  ASSERT_EQ(Take(queue), 0u);
  auto request = Answered<ib_uverbs_destroy_cq>(0);
  request.cq_handle = queue;
  Write<ib_uverbs_destroy_cq_resp>(IB_USER_VERBS_CMD_DESTROY_CQ, request);
  EXPECT_EQ(Take(queue), std::nullopt);
}

TEST_F(UverbsFileRingsTest, AreClosedWhenTheDeviceIsGone) {
  ASSERT_EQ(Attach(), Errno::kOk);
  device_.Remove();
  timers_.RunPending();
  EXPECT_TRUE(closed());
}

TEST_F(UverbsFileRingsTest, AreClosedSoonAfterTheirClientMayNoLongerWrite) {
  ASSERT_EQ(Attach(), Errno::kOk);
  const uint32_t queue = CreateQueue();
  may_write_ = false;
  Complete();
  Ask(0, Poll(queue));
  set_.Look();
  EXPECT_EQ(questions_, 1) << "it was asked just now";
  timers_.RunFor(absl::Milliseconds(10));
  Ask(1, Poll(queue));
  set_.Look();
  EXPECT_TRUE(closed());
  EXPECT_FALSE(AnswerIn(1));
}

TEST_F(UverbsFileRingsTest, FailAHeldPollWhenTheFileIsClosed) {
  ASSERT_EQ(Attach(), Errno::kOk);
  Ask(0, Poll(CreateQueue()));
  set_.Look();
  file_.reset();
  ASSERT_TRUE(AnswerIn(0));
  EXPECT_EQ(AnswerIn(0)->error, EIO);
}

// A queue pair of the client.
class UverbsFileQueuePairTest : public UverbsFileRingsTest {
 protected:
  UverbsFileQueuePairTest() {
    EXPECT_EQ(Attach(), Errno::kOk);
    auto pair = Answered<ib_uverbs_create_qp>(0);
    pair.send_cq_handle = pair.recv_cq_handle = CreateQueue();
    pair.pd_handle =
        Write<ib_uverbs_alloc_pd_resp>(IB_USER_VERBS_CMD_ALLOC_PD,
                                       Answered<ib_uverbs_alloc_pd>(0))
            .pd_handle;
    pair.max_send_wr = 2;
    pair.max_inline_data = 16;
    pair.qp_type = static_cast<uint8_t>(verbs::QpType::kRc);
    qp_ = Write<ib_uverbs_create_qp_resp>(IB_USER_VERBS_CMD_CREATE_QP, pair)
              .qp_handle;
  }

  void Modify() {
    auto request = verbs::Blank<ib_uverbs_modify_qp>();
    request.qp_handle = qp_;
    const RequestId write = driver_.StartWrite(
        PlainCommand(IB_USER_VERBS_CMD_MODIFY_QP, request, 0), getpid());
    EXPECT_EQ(driver_.AnswerTo(write)->error, Errno::kOk);
  }
  // Has the client told that it need not wait.
  void Promise() {
    provider_.qp->free = verbs::QpPromise{.sends = 2, .receives = 2};
    Modify();
  }
  CommandBytes Send() const {
    return testing::PostCommand<ib_uverbs_send_wr>(IB_USER_VERBS_CMD_POST_SEND,
                                                   8, qp_, {{}});
  }
  CommandBytes Receive() const {
    return testing::PostCommand<ib_uverbs_recv_wr>(IB_USER_VERBS_CMD_POST_RECV,
                                                   8, qp_, {{}});
  }

  uint32_t qp_ = 0;
};

TEST_F(UverbsFileQueuePairTest, TellWhatNeedNotBeWaitedFor) {
  EXPECT_EQ(memory->PromiseOf(qp_).queue_pair, 0u);
  Promise();
  EXPECT_EQ(static_cast<uint32_t>(memory->PromiseOf(qp_).queue_pair), qp_ + 1);
  EXPECT_EQ(memory->PromiseOf(qp_).sends_until, 2u);
}

// The client posts as much as was promised, takes the completion of that, and
// posts again, before the daemon has looked.
TEST_F(UverbsFileQueuePairTest, KnowWhatTheClientMayPostByACompletion) {
  const uint32_t queue = 0;
  Promise();
  Ask(0, Poll(queue));
  set_.Look();
  Leave(1, Send());
  Leave(2, Send());
  set_.Look();
  auto& completion = provider_.cq->completions.emplace_back();
  completion.qp_num = provider_.qp->number();
  provider_.cq->frees_sends = 2;
  provider_.cq->listener.OnArrival();

  fast_path::CompletionReader reader;
  reader.Take(memory->RingOf(queue), queue, 1);
  ASSERT_EQ(reader.entries().size(), 1u);
  memory->Free(reader.entries()[0].queue_pair, 2);
  EXPECT_EQ(
      memory->PromiseOf(qp_).SendsUntil(memory->PromiseOf(qp_).queue_pair), 6u)
      << "two are posted, two were free, and two more are";
  provider_.qp->sent.clear();
  provider_.qp->free = verbs::QpPromise{.sends = 4};
  for (const size_t slot : {3, 4, 5, 6}) Leave(slot, Send());
  set_.Look();
  EXPECT_FALSE(closed());
  EXPECT_TRUE(provider_.cq->completions.empty());
}

TEST_F(UverbsFileQueuePairTest, CarryOutWhatWasLeftBeforeACallByTheFile) {
  Promise();
  Leave(0, Send());
  EXPECT_TRUE(provider_.qp->sent.empty());
  Modify();
  EXPECT_EQ(provider_.qp->sent.size(), 1u);
  EXPECT_TRUE(IsFree(0));
}

TEST_F(UverbsFileQueuePairTest, PostReceivesForAMessageThatFindsNone) {
  Promise();
  Leave(0, Receive());
  provider_.qp->listener.OnNoReceive();
  EXPECT_EQ(provider_.qp->received.size(), 1u);
  EXPECT_TRUE(IsFree(0));
}

TEST_F(UverbsFileQueuePairTest, CarryOutWhatIsLeftWhenTheFileIsClosed) {
  Promise();
  Leave(0, Send());
  timers_.RunFor(absl::Milliseconds(20));
  file_->Close();
  EXPECT_EQ(provider_.qp->sent.size(), 1u);
}

TEST_F(UverbsFileQueuePairTest, LeaveWhatIsOfSomebodyWithoutTheRight) {
  Promise();
  Leave(0, Send());
  timers_.RunFor(absl::Milliseconds(20));
  may_write_ = false;
  file_->Close();
  EXPECT_TRUE(provider_.qp->sent.empty());
}

// What would need the memory of a thread that waits in a write().
TEST_F(UverbsFileQueuePairTest, ReadNothingOutOfTheClient) {
  ib_uverbs_send_wr work{};
  work.num_sge = 1;
  work.opcode = IB_UVERBS_WR_SEND;
  work.send_flags = 1 << 3;  // inline
  const uint64_t secret = 1;
  const CommandBytes command = testing::PostCommand<ib_uverbs_send_wr>(
      IB_USER_VERBS_CMD_POST_SEND, 8, qp_, {work},
      {{reinterpret_cast<uintptr_t>(&secret), 8, 0}});
  Ask(0, command);
  set_.Look();
  posts_.WaitAndRun();
  ASSERT_TRUE(AnswerIn(0));
  EXPECT_NE(AnswerIn(0)->error, 0);
  EXPECT_TRUE(provider_.qp->sent.empty());

  Ask(0, command, verbs::AsBytes(secret));
  set_.Look();
  ASSERT_TRUE(AnswerIn(0));
  EXPECT_EQ(AnswerIn(0)->error, 0);
  ASSERT_EQ(provider_.qp->sent.size(), 1u);
  EXPECT_EQ(provider_.qp->sent[0].inline_data->size(), 8u);
}

}  // namespace
}  // namespace ibemu::cuse
