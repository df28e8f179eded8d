// Unreliable connections over two modelled adapters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hca/mlx4/core/verbs_attributes.h"
#include "tests/hca/mlx4/verbs_lab.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace status = verbs::wc_status;
using ::testing::ElementsAre, ::testing::Pair;
using verbs::QpState;

VerbsEnd::Options Unreliable() {
  VerbsEnd::Options options;
  options.type = verbs::QpType::kUc;
  return options;
}

class UnreliableVerbsTest : public VerbsLab {
 protected:
  void Connect() { VerbsLab::Connect(Unreliable(), Unreliable()); }
};

TEST_F(UnreliableVerbsTest, CarriesTheLongestMessageAndRefusesALongerOne) {
  Connect();
  a_->memory->Put(0, Pattern(kMaxMessage));
  ASSERT_TRUE(b_->Receive(0, kMaxMessage).ok());
  ASSERT_TRUE(a_->Send(0, kMaxMessage, 1).ok());
  ASSERT_TRUE(a_->Send(0, kMaxMessage + 1, 2).ok());
  Run(absl::Milliseconds(20));
  EXPECT_EQ(b_->memory->Text(0, kMaxMessage), Pattern(kMaxMessage));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(2u, status::kLocalLength)));
  EXPECT_EQ(a_->State(), QpState::kSendQueueError);
}

// The adapter may have told a client of the first of several.
TEST_F(UnreliableVerbsTest, LeavesAnErrorBehindThatItHadNotReadYet) {
  Connect();
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

TEST_F(UnreliableVerbsTest, LeavesNothingBehind) {
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

}  // namespace
}  // namespace ibemu::hca::mlx4
