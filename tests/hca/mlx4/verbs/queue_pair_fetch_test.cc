// A reliable connection between our driver and a host of the software fabric.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/hca/mlx4/verbs_lab.h"

namespace ibemu::hca::mlx4 {
namespace {

using testing::Mlx4Lab, testing::Mlx4Machine;
namespace status = verbs::wc_status;
using ::testing::ElementsAre, ::testing::Pair, ::testing::SizeIs;

class QueuePairFetchTest : public Mlx4Lab {
 protected:
  QueuePairFetchTest() {
    device_ = Start(host_);
    Run(absl::Milliseconds(10));
    a_ = std::make_unique<VerbsEnd>(timers_, device_->provider(),
                                    VerbsEnd::Options{});
    VerbsEnd::Options options;
    options.rights = VerbsEnd::kAllRights;
    b_ = std::make_unique<VerbsEnd>(timers_, lab_.Provider(2), options);
    VerbsEnd::Join(*a_, *b_);
  }
  ~QueuePairFetchTest() override {
    a_.reset();
    b_.reset();
  }

  void Run(absl::Duration span = absl::Milliseconds(10)) {
    RunFor(span, {device_.get()});
  }

  Mlx4Machine& host_ = PlugIn("host-1");
  std::unique_ptr<Mlx4Device> device_;
  std::unique_ptr<VerbsEnd> a_, b_;
};

TEST_F(QueuePairFetchTest, ReadsNoMoreForOneWhoTakesSlowlyThanItMayHave) {
  constexpr size_t kLong = size_t{2} << 20;
  constexpr size_t kMax = size_t{26} << 20;  // of one process
  a_->memory->SetDelay(absl::Milliseconds(20));
  for (uint64_t i = 0; i < 16; ++i) {
    ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, kLong, *b_, 0, i).ok());
  }
  Run(absl::Milliseconds(400));
  EXPECT_GT(a_->memory->most_waiting, kMax / 2);
  EXPECT_LE(a_->memory->most_waiting, kMax);
  EXPECT_THAT(a_->Poll(), SizeIs(16));
}

TEST_F(QueuePairFetchTest, PeersFindNoMemoryHere) {
  ASSERT_TRUE(b_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, 10, *a_, 0).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(7u, status::kRemoteAccess)));
}

}  // namespace
}  // namespace ibemu::hca::mlx4
