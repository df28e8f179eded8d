// Connections over two modelled adapters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hca/mlx4/core/verbs_attributes.h"
#include "hca/mlx4/verbs/mlx4_queue_pair.h"
#include "hca/mlx4/verbs/verbs_provider.h"
#include "tests/hca/mlx4/verbs_lab.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace status = verbs::wc_status;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Pair,
    ::testing::SizeIs, ::testing::UnorderedElementsAre;
using verbs::QpState;

class QueuePairTest : public VerbsLab {};

class AnyConnectionTest : public VerbsLab,
                          public ::testing::WithParamInterface<verbs::QpType> {
 protected:
  void Connect() {
    const Options options = {.type = GetParam()};
    VerbsLab::Connect(options, options);
  }
};
INSTANTIATE_TEST_SUITE_P(Types, AnyConnectionTest,
                         ::testing::Values(verbs::QpType::kRc,
                                           verbs::QpType::kUc));

TEST_P(AnyConnectionTest, CarriesTheLongestMessageAndRefusesALongerOne) {
  Connect();
  a_->memory->Put(0, Pattern(kMaxMessage));
  ASSERT_TRUE(b_->Receive(0, kMaxMessage).ok());
  ASSERT_TRUE(a_->Send(0, kMaxMessage, 1).ok());
  ASSERT_TRUE(a_->Send(0, kMaxMessage + 1, 2).ok());
  Run(absl::Milliseconds(20));
  EXPECT_EQ(b_->memory->Text(0, kMaxMessage), Pattern(kMaxMessage));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(2u, status::kLocalLength)));
  EXPECT_EQ(a_->State(), GetParam() == verbs::QpType::kRc
                             ? QpState::kError
                             : QpState::kSendQueueError);
}

TEST_P(AnyConnectionTest, LeavesNothingBehind) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  a_.reset();
  b_.reset();
  device_a_.reset();
  device_b_.reset();
  EXPECT_EQ(host_a_.function->mapped(), 0u);
  EXPECT_EQ(host_a_.function->faults(), 0);
  EXPECT_EQ(host_a_.model.violations(), 0);
  EXPECT_EQ(host_b_.function->faults(), 0);
}

// The adapter may have told a client of the first of several.
TEST_F(QueuePairTest, LeavesAnErrorBehindThatItHadNotReadYet) {
  const Options unreliable = {.type = verbs::QpType::kUc};
  Connect(unreliable, unreliable);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  ASSERT_TRUE(a_->SendWithAWrongKey(10, 1).ok());
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  timers_.RunFor(absl::Milliseconds(1));  // without an interrupt
  verbs::QpAttributes broken{};
  broken.cur_qp_state = static_cast<uint32_t>(QpState::kSendQueueError);
  a_->Modify(broken, QpState::kReadyToSend, verbs::qp_attribute::kCurrentState);
  ASSERT_TRUE(a_->Send(0, 10, 3).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kLocalProtection),
                                          Pair(2u, status::kFlushed),
                                          Pair(3u, status::kSuccess)));
  EXPECT_EQ(a_->State(), QpState::kReadyToSend);
}

TEST_F(QueuePairTest, RefusesMoreInlineThanItWasMadeFor) {
  Connect();
  auto request = a_->Request(IB_UVERBS_WR_SEND, 0, 0);
  request.inline_data = std::make_shared<std::vector<std::byte>>(65);
  EXPECT_TRUE(absl::IsInvalidArgument(a_->Post(std::move(request))));
}

TEST_F(QueuePairTest, ASenderHearsThatTheAdapterHasTakenAMessage) {
  Connect();
  b_->memory->SetDelay(absl::Milliseconds(3));
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run(absl::Milliseconds(2));
  EXPECT_THAT(b_->Poll(), IsEmpty());
  EXPECT_THAT(a_->Poll(), SizeIs(1));
}

TEST_F(QueuePairTest, RefusesWhatItDoesNotHave) {
  Connect();
  verbs::QpInit init;
  init.type = verbs::QpType::kGsi;
  EXPECT_TRUE(absl::IsUnimplemented(a_->provider.CreateQp(init, *a_).status()));
  EXPECT_TRUE(absl::IsUnimplemented(
      a_->provider
          .CreateMr({.pd = a_->pd.get(),
                     .memory = a_->memory,
                     .start = FakeMemory::kStart,
                     .length = 10,
                     .address = 0,
                     .access = verbs::access::kLocalWrite |
                               verbs::access::kRemoteRead})
          .status()));
}

// Who forgets and begins again can't have more than others.
TEST_F(QueuePairTest, AForgottenSendHoldsItsMemoryUntilItIsFetched) {
  Connect();
  a_->memory->SetDelay(absl::Milliseconds(1));
  auto& memory =
      static_cast<VerbsProvider&>(device_a_->provider()).send_memory();
  ASSERT_TRUE(a_->Send(0, 10).ok());
  const size_t one = memory.in_use();
  EXPECT_GT(one, 0u);
  a_->Modify({}, QpState::kReset);
  EXPECT_EQ(memory.in_use(), one);
  a_->Connect(VerbsEnd::Towards(*b_));
  ASSERT_TRUE(a_->Send(0, 10).ok());
  EXPECT_EQ(memory.in_use(), 2 * one);
  a_->qp.reset();
  Run();
  EXPECT_EQ(memory.in_use(), 0u);
}

TEST_F(QueuePairTest, TheDeviceMayGoWhileASendIsFetched) {
  Connect();
  a_->memory->SetDelay(absl::Milliseconds(1));
  ASSERT_TRUE(a_->Send(0, 10).ok());
  a_->qp.reset();
  device_a_.reset();
  Run();
  EXPECT_EQ(host_a_.function->mapped(), 0u);
}

TEST_F(QueuePairTest, FlushesReceivesThatWaitForMemoryWhenASendFails) {
  Connect();
  Options same;
  same.memory = a_->memory;
  VerbsEnd other(timers_, device_a_->provider(), same);
  const auto to = VerbsEnd::Towards(*b_);
  namespace attribute = verbs::qp_attribute;
  other.Modify(
      to, QpState::kInit,
      attribute::kPKeyIndex | attribute::kPort | attribute::kAccessFlags);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(other.Receive(0, 2 << 20).ok());
  ASSERT_TRUE(a_->Receive(0, 10, 1).ok());
  auto wrong = a_->Request(IB_UVERBS_WR_SEND, 0, 10, 2);
  wrong.sges[0].lkey ^= 0x100;
  ASSERT_TRUE(a_->Post(wrong).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(),
              UnorderedElementsAre(Pair(1u, status::kFlushed),
                                   Pair(2u, status::kLocalProtection)));
}

}  // namespace
}  // namespace ibemu::hca::mlx4
