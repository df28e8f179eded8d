// Messages for which the machine has no memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "hca/mlx4/core/verbs_attributes.h"
#include "tests/hca/mlx4/troubled_function.h"
#include "tests/hca/mlx4/verbs_lab.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace status = verbs::wc_status;
using ::testing::Contains, ::testing::ElementsAre, ::testing::HasSubstr,
    ::testing::Pair;

class VerbsMemoryTest : public VerbsLab {
 protected:
  VerbsMemoryTest() {
    device_a_.reset();
    device_a_ = Start(function_);
    lab_.Configure();
    Run(absl::Milliseconds(10));
  }
  ~VerbsMemoryTest() override {
    a_.reset();
    device_a_.reset();
  }

  TroubledFunction function_{*host_a_.function};
};

TEST_F(VerbsMemoryTest, FailsASendThatNoMemoryWillComeFor) {
  Connect();
  function_.longest_piece = 0;
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kLocalQpOperation),
                                          Pair(2u, status::kFlushed)));
  EXPECT_THAT(notes_, Contains(HasSubstr("not in one piece")));
}

TEST_F(VerbsMemoryTest, FailsAReceiveThatNoMemoryWillComeFor) {
  for (const bool shared : {false, true}) {
    Options options;
    options.shared = shared;
    Connect(options, {});
    function_.longest_piece = 0;
    ASSERT_TRUE(a_->Receive(0, 10, 1).ok());
    ASSERT_TRUE(b_->Send(0, 10).ok());
    Run();
    EXPECT_THAT(a_->PollEnds(),
                ElementsAre(Pair(1u, status::kLocalQpOperation)));
    function_.longest_piece = SIZE_MAX;
    a_.reset();
    b_.reset();
  }
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("not in one piece")));
}

TEST_F(VerbsMemoryTest, WaitsWhileSomeMemoryIsInUse) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 10, 1).ok());
  ASSERT_TRUE(b_->Receive(0, kMaxMessage, 2).ok());
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  function_.longest_piece = 0;
  ASSERT_TRUE(a_->Send(0, kMaxMessage, 2).ok());
  Run(absl::Milliseconds(20));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(2u, status::kSuccess)));
}

}  // namespace
}  // namespace ibemu::hca::mlx4
