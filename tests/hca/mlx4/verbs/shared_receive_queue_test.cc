#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hca/mlx4/verbs/mlx4_srq.h"
#include "tests/hca/mlx4/verbs_lab.h"

namespace ibemu::hca::mlx4 {
namespace {

using ::testing::Contains, ::testing::IsEmpty;

class SharedReceiveQueueTest : public VerbsLab {
 protected:
  static Options Shared() {
    Options options;
    options.shared = true;
    return options;
  }
};

TEST_F(SharedReceiveQueueTest, KeepsItsSize) {
  Connect({}, Shared());
  EXPECT_TRUE(absl::IsUnimplemented(b_->srq->Resize(10)));
  EXPECT_EQ(b_->srq->Query().max_requests, 20u);
}

TEST_F(SharedReceiveQueueTest, CutsTheAdapterOffWhenItIsNotGivenBack) {
  Connect({}, Shared());
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  b_->qp.reset();
  host_b_.model.faults().Refuse(prm::Opcode::kHw2SwSrq,
                                prm::CommandStatus::kResourceBusy);
  b_->srq.reset();
  EXPECT_THAT(notes_, Contains(::testing::HasSubstr("HW2SW_SRQ")));
  host_b_.trace.records.clear();
  b_.reset();
  Run(absl::Milliseconds(1100));
  EXPECT_THAT(host_b_.trace.Names(), IsEmpty()) << "it gets no command";
}

}  // namespace
}  // namespace ibemu::hca::mlx4
