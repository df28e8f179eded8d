// A reliable connection between our driver and a host of the software fabric.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "tests/hca/mlx4/verbs_bench.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace status = verbs::wc_status;
using ::testing::ElementsAre, ::testing::Pair, ::testing::SizeIs;

class QueuePairFetchTest : public DriverBench {
 protected:
  QueuePairFetchTest() {
    device_ = Start(host_);
    if (!device_) throw std::runtime_error("no driver");
    Run(absl::Milliseconds(10));
    const topology::NodeId peer = *fabric_.Find("host-2");
    a_ = std::make_unique<VerbsEnd>(timers_, device_->provider(),
                                    VerbsEnd::Options{});
    VerbsEnd::Options options;
    options.rights = VerbsEnd::kAllRights;
    b_ = std::make_unique<VerbsEnd>(timers_, fabric_.provider(peer), options);
    a_->Connect(VerbsEnd::Towards(b_->qp->number(), LidOf(b_->provider)));
    b_->Connect(VerbsEnd::Towards(a_->qp->number(), LidOf(a_->provider)));
  }
  ~QueuePairFetchTest() override {
    a_.reset();
    b_.reset();
  }

  static uint16_t LidOf(verbs::Provider& provider) {
    return static_cast<uint16_t>(provider.QueryPort(1)->lid);
  }
  void Run(absl::Duration span = absl::Milliseconds(10)) {
    RunFor(span, {device_.get()});
  }

  ModelledHost& host_ = PlugIn("host-1");
  std::unique_ptr<Mlx4Device> device_;
  std::unique_ptr<VerbsEnd> a_, b_;
};

TEST_F(QueuePairFetchTest, ReadsNoMoreForOneWhoTakesSlowlyThanItMayHave) {
  constexpr size_t kLong = size_t{2} << 20;
  constexpr size_t kMost = size_t{26} << 20;  // of one process
  a_->memory->SetDelay(absl::Milliseconds(20));
  for (uint64_t i = 0; i < 16; ++i) {
    ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, kLong, *b_, 0, i).ok());
  }
  Run(absl::Milliseconds(400));
  EXPECT_GT(a_->memory->most_waiting, kMost / 2);
  EXPECT_LE(a_->memory->most_waiting, kMost);
  EXPECT_THAT(a_->Poll(), SizeIs(16));
}

TEST_F(QueuePairFetchTest, PeersFindNoMemoryHere) {
  ASSERT_TRUE(b_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, 10, *a_, 0).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(7u, status::kRemoteAccess)));
}

}  // namespace
}  // namespace ibemu::hca::mlx4
