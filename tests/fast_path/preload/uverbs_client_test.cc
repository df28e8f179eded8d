#include "fast_path/preload/uverbs_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "testing/uverbs_commands.h"

namespace ibemu::fast_path {
namespace {

using testing::Answered, testing::CommandBytes, testing::PlainCommand;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kQueue = 5;

// A page that the client may not access.
class ForbiddenPage {
 public:
  ForbiddenPage()
      : address_(mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                      -1, 0)) {}
  ~ForbiddenPage() { munmap(address_, kSize); }
  ForbiddenPage(const ForbiddenPage&) = delete;
  ForbiddenPage& operator=(const ForbiddenPage&) = delete;

  uint64_t address() const { return reinterpret_cast<uintptr_t>(address_); }

 private:
  static constexpr size_t kSize = 4096;
  void* const address_;
};

class UverbsClientTest : public ::testing::Test {
 protected:
  UverbsClientTest() { facts_->process = getpid(); }

  uint64_t Place() { return reinterpret_cast<uintptr_t>(response_.data()); }

  CommandBytes Poll(uint32_t most = 1) {
    auto request = Answered<ib_uverbs_poll_cq>(Place());
    request.cq_handle = kQueue;
    request.ne = most;
    return PlainCommand(IB_USER_VERBS_CMD_POLL_CQ, request, 8 + most * 48);
  }
  // One request of one piece.
  CommandBytes Send(uint64_t address, uint32_t length, uint32_t flags = 0,
                    uint32_t opcode = IB_UVERBS_WR_SEND) {
    ib_uverbs_send_wr work{};
    work.num_sge = 1;
    work.opcode = opcode;
    work.send_flags = flags;
    return testing::PostCommand<ib_uverbs_send_wr>(IB_USER_VERBS_CMD_POST_SEND,
                                                   Place(), 0, {work},
                                                   {{address, length, 0x11}});
  }
  Way Write(const CommandBytes& command) {
    return UverbsClient(*memory_, *facts_, -1)
        .Write(command.data(), command.size(), error_);
  }

  // Writes while another thread, as the daemon, answers that one command.
  Way WriteAnswered(const CommandBytes& command, uint32_t error,
                    const std::vector<std::byte>& answer) {
    std::thread daemon([&] {
      uint64_t asked = 0;
      while ((asked = memory_->asked.exchange(0)) == 0) sched_yield();
      EXPECT_EQ(asked, 1u) << "the first slot";
      CommandSlot& slot = memory_->slots[0];
      command_ = {slot.command, slot.command + slot.command_length};
      data_length_ = slot.data_length;
      if (data_length_ != CommandSlot::kNoData) {
        data_ = {slot.data, slot.data + data_length_};
      }
      slot.error = error;
      slot.answer_length = static_cast<uint32_t>(answer.size());
      std::copy(answer.begin(), answer.end(), slot.answer);
      if (slot.state.exchange(CommandState::kAnswered) ==
          CommandState::kAskedAsleep) {
        syscall(SYS_futex, &slot.state, FUTEX_WAKE, 1, nullptr, nullptr, 0);
      }
    });
    const Way way = Write(command);
    daemon.join();
    return way;
  }

  std::unique_ptr<UverbsRingMemory> memory_ =
      std::make_unique<UverbsRingMemory>();
  std::unique_ptr<ProcessFacts> facts_ = std::make_unique<ProcessFacts>();
  std::vector<std::byte> response_ = std::vector<std::byte>(1024);
  int error_ = -1;
  // What the daemon saw.
  CommandBytes command_;
  uint32_t data_length_ = 0;
  std::vector<std::byte> data_;
};

TEST_F(UverbsClientTest, HasACommandCarriedOut) {
  const std::vector<std::byte> answer(8, std::byte{3});
  EXPECT_EQ(WriteAnswered(Poll(), 0, answer), Way::kRing);
  EXPECT_EQ(error_, 0);
  EXPECT_EQ(command_, Poll());
  EXPECT_EQ(data_length_, CommandSlot::kNoData);
  EXPECT_EQ(response_[7], std::byte{3});
  EXPECT_EQ(response_[8], std::byte{0});
  EXPECT_EQ(memory_->taken, 0u);
}

TEST_F(UverbsClientTest, TellsTheErrorAndGivesTheResponseAsWell) {
  const uint64_t data = 0;
  const std::vector<std::byte> bad_request = {std::byte{1}, {}, {}, {}};
  EXPECT_EQ(WriteAnswered(Send(reinterpret_cast<uintptr_t>(&data), 8), ENOMEM,
                          bad_request),
            Way::kRing);
  EXPECT_EQ(error_, ENOMEM);
  EXPECT_EQ(response_[0], std::byte{1});
}

TEST_F(UverbsClientTest, WritesNoMoreThanThereIsRoomFor) {
  EXPECT_EQ(WriteAnswered(Poll(), 0, std::vector(100, std::byte{3})),
            Way::kRing);
  EXPECT_EQ(response_[55], std::byte{3});
  EXPECT_EQ(response_[56], std::byte{0});
}

TEST_F(UverbsClientTest, ReadsWhatASendSends) {
  const std::vector<std::byte> data = {std::byte{4}, std::byte{5}};
  const auto address = reinterpret_cast<uintptr_t>(data.data());
  EXPECT_EQ(WriteAnswered(Send(address, 2), 0, {}), Way::kRing);
  EXPECT_THAT(data_, ElementsAre(std::byte{4}, std::byte{5}));
  data_.clear();
  EXPECT_EQ(WriteAnswered(Send(address, 2, 0, IB_UVERBS_WR_RDMA_READ), 0, {}),
            Way::kRing);
  EXPECT_THAT(data_, IsEmpty()) << "of what is read there is nothing yet";
}

// A read that was posted before it may bring what it sends.
TEST_F(UverbsClientTest, LeavesAFencedMessageWhereItIs) {
  constexpr uint32_t kFence = 1 << 0;
  const uint64_t data = 0;
  EXPECT_EQ(
      WriteAnswered(
          Send(reinterpret_cast<uintptr_t>(&data), sizeof data, kFence), 0, {}),
      Way::kRing);
  EXPECT_EQ(data_length_, CommandSlot::kNoData);
}

TEST_F(UverbsClientTest, LeavesLongMessagesWhereTheyAre) {
  const std::vector<std::byte> data(CommandSlot::kMaxData + 1);
  EXPECT_EQ(WriteAnswered(Send(reinterpret_cast<uintptr_t>(data.data()),
                               static_cast<uint32_t>(data.size())),
                          0, {}),
            Way::kRing);
  EXPECT_EQ(data_length_, CommandSlot::kNoData);
}

TEST_F(UverbsClientTest, LeavesToTheDaemonWhatIsNotThere) {
  const ForbiddenPage page;
  EXPECT_EQ(WriteAnswered(Send(page.address(), 8), 0, {}), Way::kRing);
  EXPECT_EQ(data_length_, CommandSlot::kNoData);
}

TEST_F(UverbsClientTest, LeavesInlineDataThatItCannotReadToTheFile) {
  memory_->control.daemon_sleeps = 0;
  constexpr uint32_t kInline = 1 << 3;
  const ForbiddenPage page;
  EXPECT_EQ(Write(Send(page.address(), 8, kInline)), Way::kPage);
  const std::vector<std::byte> data(CommandSlot::kMaxData + 1);
  EXPECT_EQ(Write(Send(reinterpret_cast<uintptr_t>(data.data()),
                       static_cast<uint32_t>(data.size()), kInline)),
            Way::kPage);
  EXPECT_EQ(Write(Send(reinterpret_cast<uintptr_t>(data.data()), 8, kInline,
                       IB_UVERBS_WR_RDMA_READ)),
            Way::kCommand);
  EXPECT_EQ(memory_->taken, 0u);
}

TEST_F(UverbsClientTest, LeavesOtherCommandsToTheFile) {
  EXPECT_EQ(Write({}), Way::kCommand);
  EXPECT_EQ(Write(CommandBytes(CommandSlot::kMaxCommand + 4)), Way::kCommand);
  EXPECT_EQ(Write(PlainCommand(IB_USER_VERBS_CMD_GET_CONTEXT,
                               Answered<ib_uverbs_get_context>(Place()), 8)),
            Way::kCommand);
  EXPECT_EQ(Write(testing::ExtendedCommand(IB_USER_VERBS_CMD_POLL_CQ,
                                           Answered<ib_uverbs_poll_cq>(Place()),
                                           Place(), 56)),
            Way::kCommand);
  EXPECT_EQ(Write(Poll(22)), Way::kCommand) << "too long an answer";
  CommandBytes longer = Poll();
  longer.resize(longer.size() + 4);
  EXPECT_EQ(Write(longer), Way::kCommand) << "its header says less";
  CommandBytes shorter = Send(Place(), 1);
  shorter.resize(shorter.size() - sizeof(ib_uverbs_sge));
  const auto words = static_cast<uint16_t>(shorter.size() / 4);
  std::memcpy(shorter.data() + offsetof(ib_uverbs_cmd_hdr, in_words), &words,
              sizeof words);
  EXPECT_EQ(Write(shorter), Way::kCommand) << "a piece is missing";
}

TEST_F(UverbsClientTest, LeavesBadPointersToTheFile) {
  const ForbiddenPage page;
  auto request = Answered<ib_uverbs_poll_cq>(page.address());
  request.ne = 1;
  EXPECT_EQ(Write(PlainCommand(IB_USER_VERBS_CMD_POLL_CQ, request, 56)),
            Way::kPage);
  EXPECT_EQ(
      UverbsClient(*memory_, *facts_, -1)
          .Write(reinterpret_cast<const void*>(page.address()), 24, error_),
      Way::kPage);
  EXPECT_EQ(Write(PlainCommand(IB_USER_VERBS_CMD_POLL_CQ,
                               Answered<ib_uverbs_poll_cq>(0), 56)),
            Way::kCommand);
}

TEST_F(UverbsClientTest, GoesByTheFileWhereNobodyLooks) {
  memory_->control.daemon_sleeps = 1;
  EXPECT_EQ(Write(Poll()), Way::kAsleep);
  memory_->control.daemon_sleeps = 0;
  memory_->control.closed = 1;
  EXPECT_EQ(Write(Poll()), Way::kAsleep);
  EXPECT_EQ(memory_->asked, 0u);
}

TEST_F(UverbsClientTest, GoesByTheFileWhenAllSlotsAreTaken) {
  memory_->taken = ~uint64_t{0};
  EXPECT_EQ(Write(Poll()), Way::kBusy);
  EXPECT_EQ(memory_->taken, ~uint64_t{0});
}

TEST_F(UverbsClientTest, TakesItsCommandBackFromADaemonThatFellAsleep) {
  std::thread daemon([this] {
    while (memory_->asked == 0) sched_yield();
    memory_->control.daemon_sleeps = 1;
  });
  EXPECT_EQ(Write(Poll()), Way::kAsleep);
  daemon.join();
  EXPECT_EQ(memory_->asked, 0u);
  EXPECT_EQ(memory_->taken, 0u);
}

// A client whose completion queue has a ring.
class PolledUverbsClientTest : public UverbsClientTest {
 protected:
  PolledUverbsClientTest() {
    ring_.queue = kQueue + 1;
    ring_.consumer = CompletionRing::Consumer(1, 0);
    memory_->asked_by_file = INT64_MAX / 2;
  }

  void Arrive(uint64_t id, uint64_t queue_pair = 0, uint64_t frees_sends = 0) {
    CompletionRing::Entry entry{};
    entry.completion.wr_id = id;
    entry.queue_pair = queue_pair;
    entry.frees_sends = frees_sends;
    ring_.Put(ring_.producer, entry);
    ++ring_.producer;
    ++memory_->arrivals;
  }
  uint32_t count() const {
    ib_uverbs_poll_cq_resp header;
    std::memcpy(&header, response_.data(), sizeof header);
    return header.count;
  }
  uint64_t IdOf(size_t number) const {
    ib_uverbs_wc completion;
    std::memcpy(&completion, response_.data() + 8 + number * sizeof completion,
                sizeof completion);
    return completion.wr_id;
  }

  CompletionRing& ring_ = memory_->RingOf(kQueue);
};

TEST_F(PolledUverbsClientTest, TakesCompletionsWithoutAsking) {
  Arrive(7);
  Arrive(8);
  Arrive(9);
  EXPECT_EQ(Write(Poll(2)), Way::kRing);
  EXPECT_EQ(error_, 0);
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(IdOf(0), 7u);
  EXPECT_EQ(IdOf(1), 8u);
  EXPECT_EQ(Write(Poll(2)), Way::kRing);
  EXPECT_EQ(count(), 1u);
  EXPECT_EQ(IdOf(0), 9u);
  EXPECT_EQ(IdOf(1), 8u) << "as it was: there is one";
  EXPECT_EQ(memory_->asked, 0u);
}

TEST_F(PolledUverbsClientTest, TakesNoMoreThanThereIsRoomFor) {
  Arrive(7);
  Arrive(8);
  auto request = Answered<ib_uverbs_poll_cq>(Place());
  request.cq_handle = kQueue;
  request.ne = 2;
  EXPECT_EQ(Write(PlainCommand(IB_USER_VERBS_CMD_POLL_CQ, request, 8 + 48)),
            Way::kRing);
  EXPECT_EQ(count(), 1u);
}

TEST_F(PolledUverbsClientTest, KnowsWhatItMayPostBecauseOfACompletion) {
  QueuePairPromise& promise = memory_->PromiseOf(3);
  const uint64_t name = uint64_t{5} << 32 | 4;
  promise.freed = uint64_t{5} << 32;
  promise.sends_until = 10;
  Arrive(7, name, 2);
  EXPECT_EQ(promise.SendsUntil(name), 10u);
  EXPECT_EQ(Write(Poll()), Way::kRing);
  EXPECT_EQ(promise.SendsUntil(name), 12u);
  promise.sends_until = uint64_t{2} << 32 | 12;
  EXPECT_EQ(promise.SendsUntil(name), 12u) << "the daemon has counted it";
  Arrive(8, uint64_t{4} << 32 | 4, 3);
  EXPECT_EQ(Write(Poll()), Way::kRing);
  EXPECT_EQ(promise.SendsUntil(name), 12u) << "it was of an earlier one";
}

TEST_F(PolledUverbsClientTest, TakesNothingWhenTheRingsAreClosed) {
  Arrive(7);
  memory_->control.closed = 1;
  EXPECT_EQ(Write(Poll()), Way::kAsleep);
  EXPECT_EQ(ring_.consumer, CompletionRing::Consumer(1, 0));
}

TEST_F(PolledUverbsClientTest, AsksForWhatIsNotInTheRing) {
  ring_.has_more = 1;
  const std::vector<std::byte> answer(8, std::byte{3});
  EXPECT_EQ(WriteAnswered(Poll(), 0, answer), Way::kRing);
  EXPECT_EQ(response_[7], std::byte{3});
}

TEST_F(PolledUverbsClientTest, AsksWhereTheRingIsClosedOrAnothers) {
  memory_->control.daemon_sleeps = 1;
  ring_.consumer = CompletionRing::Consumer(2, 0);
  EXPECT_EQ(Write(Poll()), Way::kAsleep);
  ring_.consumer = CompletionRing::Consumer(3, 0);
  ring_.queue = kQueue + UverbsRingMemory::kQueues + 1;
  EXPECT_EQ(Write(Poll()), Way::kAsleep);
}

TEST_F(PolledUverbsClientTest, AsksForNothingInAnEmptyQueue) {
  response_.assign(8, std::byte{9});
  EXPECT_EQ(Write(Poll()), Way::kRing);
  EXPECT_EQ(error_, 0);
  EXPECT_EQ(response_, std::vector<std::byte>(8));
}

TEST_F(PolledUverbsClientTest, SleepsUntilTheAnswerWhileYieldsAreLong) {
  facts_->yields.OnYield(0, INT64_MAX / 2);
  const std::vector<std::byte> answer(8, std::byte{3});
  EXPECT_EQ(WriteAnswered(Poll(), 0, answer), Way::kRing);
  EXPECT_EQ(response_[7], std::byte{3}) << "the daemon was asked";
}

// Who polls two queues in turns is not held in one while the other has
// something.
TEST_F(PolledUverbsClientTest, DoesNotWaitWhenSomethingHasComeToAnotherQueue) {
  facts_->yields.OnYield(0, INT64_MAX / 2);
  memory_->control.daemon_sleeps = 1;
  ++memory_->arrivals;
  EXPECT_EQ(Write(Poll()), Way::kRing);
  EXPECT_EQ(count(), 0u);
  EXPECT_EQ(Write(Poll()), Way::kAsleep) << "now it would wait";
}

TEST_F(PolledUverbsClientTest, AsksTheDaemonWhileAPostIsUnderWay) {
  memory_->control.daemon_sleeps = 1;
  memory_->taken = 2;
  EXPECT_EQ(Write(Poll()), Way::kAsleep);
  ++memory_->arrivals;
  EXPECT_EQ(Write(Poll()), Way::kAsleep);
  Arrive(7);
  EXPECT_EQ(Write(Poll()), Way::kRing) << "what is there may be taken";
  EXPECT_EQ(count(), 1u);
}

TEST_F(PolledUverbsClientTest, TakesWhatComesWhileItWaits) {
  uint32_t turns = 0;
  do {
    const uint32_t producer = ring_.producer;
    std::thread daemon([this] { Arrive(7); });
    EXPECT_EQ(Write(Poll()), Way::kRing);
    daemon.join();
    if (count() == 1) EXPECT_EQ(IdOf(0), 7u);
    if (count() == 0) {
      EXPECT_EQ(Write(Poll()), Way::kRing) << "it came too late";
    }
    EXPECT_EQ(CompletionRing::TakenOf(ring_.consumer), producer + 1);
  } while (++turns < 100);
}

TEST_F(PolledUverbsClientTest, AsksWhenTheRingIsClosedWhileItWaits) {
  std::thread daemon([this] {
    ring_.consumer = CompletionRing::Consumer(2, 0);
    ++memory_->arrivals;
    memory_->control.daemon_sleeps = 1;
  });
  Way way = Way::kRing;
  while ((way = Write(Poll())) == Way::kRing) EXPECT_EQ(count(), 0u);
  EXPECT_EQ(way, Way::kAsleep);
  daemon.join();
}

TEST_F(PolledUverbsClientTest, AsksByTheFileOnceInAWhile) {
  memory_->asked_by_file = 0;
  EXPECT_EQ(Write(Poll()), Way::kAsleep);
  EXPECT_EQ(Write(Poll()), Way::kRing);
}

// A queue pair, handle 0, that takes posts.
class PromisedUverbsClientTest : public UverbsClientTest {
 protected:
  PromisedUverbsClientTest() {
    QueuePairPromise& promise = memory_->PromiseOf(0);
    promise.queue_pair = 1;
    promise.type = static_cast<uint32_t>(verbs::QpType::kRc);
    promise.send_sges = promise.receive_sges = 1;
    promise.inline_bytes = 8;
    promise.sends_until = 60;
    promise.receives_until = 1;
  }

  CommandBytes Send8() { return Send(reinterpret_cast<uintptr_t>(&data), 8); }
  // One request without SGEs.
  CommandBytes Receive() {
    return testing::PostCommand<ib_uverbs_recv_wr>(IB_USER_VERBS_CMD_POST_RECV,
                                                   Place(), 0, {{}});
  }

  const uint64_t data = 0x0807060504030201;
};

TEST_F(PromisedUverbsClientTest, DoesNotWaitForWhatItKnows) {
  response_.assign(8, std::byte{9});
  EXPECT_EQ(Write(Send8()), Way::kRing);
  EXPECT_EQ(error_, 0);
  EXPECT_EQ(response_[0], std::byte{0}) << "no bad request";
  EXPECT_EQ(response_[4], std::byte{9}) << "beyond the response";
  const CommandSlot& slot = memory_->slots[0];
  EXPECT_EQ(slot.awaited, 0u);
  EXPECT_EQ(slot.data_length, 8u);
  EXPECT_EQ(slot.data[7], std::byte{8});
  EXPECT_EQ(memory_->asked, 1u);
  EXPECT_EQ(memory_->taken, 1u) << "the daemon gives it back";
}

TEST_F(PromisedUverbsClientTest, LeavesReceivesAmongReceives) {
  EXPECT_EQ(Write(Receive()), Way::kRing);
  EXPECT_EQ(memory_->receives, 1u);
  EXPECT_EQ(memory_->asked, 0u);
}

TEST_F(PromisedUverbsClientTest, NumbersItsCommands) {
  memory_->asked_so_far = UINT32_MAX;
  EXPECT_EQ(Write(Send8()), Way::kRing);
  EXPECT_EQ(Write(Receive()), Way::kRing);
  EXPECT_EQ(memory_->slots[0].order, UINT32_MAX);
  EXPECT_EQ(memory_->slots[1].order, 0u);
}

TEST_F(PromisedUverbsClientTest, WaitsWhereNothingIsPromised) {
  memory_->PromiseOf(0).sends_until = 0;
  EXPECT_EQ(WriteAnswered(Send8(), ENOMEM, std::vector<std::byte>(4)),
            Way::kRing);
  EXPECT_EQ(error_, ENOMEM);
  EXPECT_EQ(memory_->slots[0].awaited, 1u);
}

TEST_F(PromisedUverbsClientTest, LeavesSlotsForOtherCommands) {
  for (int i = 0; i < 48; ++i) ASSERT_EQ(Write(Send8()), Way::kRing);
  std::thread daemon([this] {
    while ((memory_->asked & uint64_t{1} << 48) == 0) sched_yield();
    memory_->control.daemon_sleeps = 1;
  });
  EXPECT_EQ(Write(Send8()), Way::kAsleep) << "it waits";
  daemon.join();
  EXPECT_EQ(memory_->PromiseOf(0).sends, 48u);
}

TEST_F(PromisedUverbsClientTest, ClaimsNothingWhereNobodyLooks) {
  memory_->control.daemon_sleeps = 1;
  EXPECT_EQ(Write(Send8()), Way::kAsleep);
  EXPECT_EQ(memory_->PromiseOf(0).sends, 0u);
  EXPECT_EQ(memory_->asked, 0u);
  EXPECT_EQ(memory_->taken, 0u);
}

}  // namespace
}  // namespace ibemu::fast_path
