// Completion queues of programs, numbers that come back, and adapters that die
// under their users.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "hca/mlx4/verbs/mlx4_queue_pair.h"
#include "hca/mlx4/verbs/mlx4_srq.h"
#include "tests/hca/mlx4/verbs_lab.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace status = verbs::wc_status;
using prm::CommandStatus, prm::Opcode;
using ::testing::Contains, ::testing::ElementsAre, ::testing::HasSubstr,
    ::testing::IsEmpty, ::testing::Pair, ::testing::SizeIs,
    ::testing::UnorderedElementsAre;
using verbs::AsyncEventType, verbs::QpState;

class VerbsLifeTest : public VerbsLab {
 protected:
  void SendTo(VerbsEnd& from, bool solicited = false) {
    auto request = from.Request(IB_UVERBS_WR_SEND, 0, 10);
    request.work.send_flags = solicited ? verbs::send_flag::kSolicited : 0;
    ASSERT_TRUE(from.Post(std::move(request)).ok());
    Run();
  }
};

TEST_F(VerbsLifeTest, AnEventOfAQueuePairThatIsGoneReachesNoOther) {
  Connect();
  const uint32_t number = a_->qp->number();
  // It is in the queue of events when its queue pair goes.
  host_a_.model.faults().LoseInterrupts(1);
  ASSERT_TRUE(a_->Receive(0, 1).ok());
  ASSERT_TRUE(b_->Send(0, 10).ok());
  timers_.RunFor(absl::Microseconds(100));
  a_->qp.reset();
  verbs::QpInit init;
  init.pd = a_->pd.get();
  init.send_cq = init.receive_cq = a_->cq.get();
  a_->qp = *a_->provider.CreateQp(init, *a_);
  EXPECT_NE(a_->qp->number(), number);
  Run(absl::Milliseconds(1100));
  EXPECT_THAT(a_->events, IsEmpty());
  a_->qp = *a_->provider.CreateQp(init, *a_);
  EXPECT_EQ(a_->qp->number(), number) << "all events have been read";
}

TEST_F(VerbsLifeTest, TellsWhoseQueuesMetAnError) {
  Options shared;
  shared.shared = true;
  Connect(shared, shared);
  auto& provider = static_cast<VerbsProvider&>(device_a_->provider());
  auto& qp = static_cast<Mlx4QueuePair&>(*a_->qp);
  auto& srq = static_cast<Mlx4Srq&>(*a_->srq);
  const auto after = [&](prm::EqeType type, uint32_t number) {
    a_->events.clear();
    prm::Eqe event;
    event.type = type;
    wire::Encode(prm::QueueEvent{.number = number},
                 std::as_writable_bytes(std::span(event.data)));
    provider.OnEvent(event);
    return a_->events;
  };
  EXPECT_THAT(after(prm::EqeType::kSrqCatastrophicError, srq.number()),
              ElementsAre(AsyncEventType::kSrqError));
  EXPECT_THAT(after(prm::EqeType::kWqAccessError, qp.number()),
              ElementsAre(AsyncEventType::kQpAccessError));
  EXPECT_THAT(after(prm::EqeType::kWqCatastrophicError, qp.number()),
              ElementsAre(AsyncEventType::kQpFatal));
  EXPECT_THAT(after(prm::EqeType::kCqError, qp.cqn()),
              ElementsAre(AsyncEventType::kQpFatal));
  EXPECT_THAT(after(prm::EqeType::kWqCatastrophicError, 0x999), IsEmpty());
}

TEST_F(VerbsLifeTest, EndsAllRequestsWhenTheAdapterDies) {
  Connect();
  ASSERT_TRUE(a_->Receive(0, 10, 1).ok());
  ASSERT_TRUE(b_->Receive(0, 10, 4).ok());
  host_b_.model.Fail(1);
  Run(absl::Milliseconds(1100));
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(4u, status::kFlushed)));
  EXPECT_THAT(a_->PollEnds(), IsEmpty());
  host_a_.model.Fail(1);
  Run(absl::Milliseconds(1100));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kFlushed)));
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  ASSERT_TRUE(a_->Receive(0, 10, 3).ok());
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(2u, status::kFlushed),
                                          Pair(3u, status::kFlushed)));
  EXPECT_EQ(a_->State(), QpState::kError);
  verbs::QpAttributes to{};
  to.qp_attr_mask = verbs::qp_attribute::kState;
  EXPECT_TRUE(absl::IsUnavailable(a_->qp->Modify(to)));
  EXPECT_TRUE(absl::IsUnavailable(a_->provider.CreateCq(10, *a_).status()));
}

TEST_F(VerbsLifeTest, ObjectsOutliveTheDevice) {
  VerbsEnd::Options shared;
  shared.shared = true;
  Connect({}, shared);
  ASSERT_TRUE(a_->Receive(0, 10).ok());
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  device_a_.reset();
  device_b_.reset();
  EXPECT_EQ(host_a_.function->mapped(), 0u);
  EXPECT_EQ(host_b_.function->mapped(), 0u);
  EXPECT_EQ(host_a_.function->faults(), 0);
  timers_.RunFor(absl::Milliseconds(10));
  EXPECT_THAT(a_->Poll(), SizeIs(2));
  EXPECT_EQ(a_->State(), QpState::kError);
  EXPECT_TRUE(absl::IsUnavailable(b_->Receive(0, 10)));
  EXPECT_TRUE(absl::IsUnavailable(b_->srq->SetLimit(1)));
  a_.reset();
  b_.reset();
}

TEST_F(VerbsLifeTest, GivesAnAdapterNoCommandThatWasCutOff) {
  Connect();
  ASSERT_TRUE(a_->Receive(0, 10).ok());
  host_a_.model.faults().Refuse(Opcode::k2RstQp, CommandStatus::kResourceBusy);
  a_->Modify({}, QpState::kReset);
  EXPECT_THAT(notes_, Contains(HasSubstr("2RST_QP")));
  host_a_.trace.records.clear();
  verbs::QpInit init;
  init.pd = a_->pd.get();
  init.send_cq = init.receive_cq = a_->cq.get();
  EXPECT_FALSE(a_->provider.CreateQp(init, *a_).ok());
  a_.reset();
  Run(absl::Milliseconds(1100));
  EXPECT_THAT(host_a_.trace.Names(), IsEmpty());
  EXPECT_TRUE(absl::IsUnavailable(device_a_->provider().CreatePd(0).status()))
      << "the device knows that it is dead";
}

TEST_F(VerbsLifeTest, CutsTheAdapterOffThatDoesNotSayWhetherItHasAQueue) {
  Make();
  host_a_.model.faults().Hang(Opcode::kSw2HwCq);
  verbs::QpInit init;
  init.pd = a_->pd.get();
  init.send_cq = init.receive_cq = a_->cq.get();
  EXPECT_FALSE(a_->provider.CreateQp(init, *a_).ok());
  EXPECT_THAT(notes_, Contains(HasSubstr("SW2HW_CQ")));
  Run(absl::Milliseconds(1100));
  EXPECT_EQ(host_a_.function->faults(), 0);
}

TEST_F(VerbsLifeTest, WaitsForMemoryWhenReceiversHoldAllOfIt) {
  Connect();
  constexpr size_t kLong = 2 << 20;
  for (uint64_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(b_->Receive(0, kLong, i).ok());
  }
  for (uint64_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(a_->Send(0, 10, i).ok());
    Run(absl::Milliseconds(1));
  }
  Run();
  const auto received = b_->PollEnds();
  ASSERT_THAT(received, SizeIs(30));
  for (uint64_t i = 0; i < 30; ++i) {
    EXPECT_EQ(received[i], (std::pair<uint64_t, uint32_t>(i, 0)));
  }
}

TEST_F(VerbsLifeTest,
       NotifiesOfWhatComesWhileTheAdapterIsAskedWhatWasSolicited) {
  struct OnQuery : model::CommandObserver {
    void OnCommand(const model::CommandRecord& record) override {
      if (record.opcode == Opcode::kQueryCq) std::exchange(then, [] {})();
    }
    std::function<void()> then = [] {};
  } on_query;
  Connect();
  host_b_.model.AddObserver(on_query);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(b_->Receive(0, 10).ok());
  b_->cq->RequestNotify(/*solicited_only=*/true);
  on_query.then = [this] {
    auto request = a_->Request(IB_UVERBS_WR_SEND, 0, 10);
    request.work.send_flags = verbs::send_flag::kSolicited;
    ASSERT_TRUE(a_->Post(std::move(request)).ok());
    timers_.RunFor(absl::Milliseconds(1));
  };
  SendTo(*a_);
  EXPECT_THAT(b_->Poll(), SizeIs(2));
  EXPECT_EQ(b_->notices, 1);
  host_b_.model.RemoveObserver(on_query);
}

TEST_F(VerbsLifeTest, EndsAllRequestsWhenTheAdaptersCompletionQueueFails) {
  Connect();
  ASSERT_TRUE(a_->Receive(0, 10, 1).ok());
  a_->memory->SetDelay(absl::Milliseconds(1));
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  host_a_.trace.records.clear();
  prm::Eqe event;
  event.type = prm::EqeType::kCqError;
  wire::Encode(
      prm::QueueEvent{.number = static_cast<Mlx4QueuePair&>(*a_->qp).cqn()},
      std::as_writable_bytes(std::span(event.data)));
  static_cast<VerbsProvider&>(device_a_->provider()).OnEvent(event);
  EXPECT_THAT(host_a_.trace.Names(), ElementsAre("2RST_QP"));
  EXPECT_THAT(a_->PollEnds(), UnorderedElementsAre(Pair(1u, status::kFlushed),
                                                   Pair(2u, status::kFlushed)));
  EXPECT_THAT(a_->events, ElementsAre(AsyncEventType::kQpFatal));
  EXPECT_EQ(a_->State(), QpState::kError);
}

TEST_F(VerbsLifeTest, NumbersComeBackWhenThereAreNoOthers) {
  Make();
  for (uint32_t i = 0; i < 2 * a_->provider.QueryDevice().max_srq; ++i) {
    ASSERT_TRUE(a_->provider
                    .CreateSrq(*a_->pd,
                               {.max_requests = 1, .max_sges = 1, .limit = 0},
                               *a_)
                    .ok())
        << i;
  }
}

TEST_F(VerbsLifeTest, AnEventReachesNoLaterLifeOfItsQueuePair) {
  Connect();
  ASSERT_TRUE(a_->Receive(0, 1).ok());
  ASSERT_TRUE(b_->Send(0, 10).ok());
  // It is in the queue of events when its queue pair is reset.
  timers_.RunFor(absl::Microseconds(100));
  a_->Modify({}, QpState::kReset);
  a_->Connect(VerbsEnd::Towards(*b_));
  Run();
  EXPECT_THAT(a_->events, IsEmpty());
  ASSERT_TRUE(a_->Receive(0, 10).ok());
  Run();
  EXPECT_THAT(a_->Poll(), IsEmpty()) << "it is in no error";
}

TEST_F(VerbsLifeTest, KeepsContextMemoryThatAnAdapterMayHave) {
  Make();
  verbs::QpInit init;
  init.pd = a_->pd.get();
  init.send_cq = init.receive_cq = a_->cq.get();
  host_a_.model.faults().Hang(Opcode::kMapIcm);
  std::vector<std::unique_ptr<verbs::Qp>> all;
  size_t before = 0;
  do {
    before = host_a_.function->mapped();
    auto qp = a_->provider.CreateQp(init, *a_);
    all.push_back(qp.ok() ? *std::move(qp) : nullptr);
  } while (all.back());
  EXPECT_THAT(notes_, Contains(HasSubstr("MAP_ICM")));
  EXPECT_EQ(host_a_.function->mapped(), before + IcmTables::kPiece);
}

}  // namespace
}  // namespace ibemu::hca::mlx4
