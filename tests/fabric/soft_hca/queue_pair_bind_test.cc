#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/soft_hca/queue_pair.h"
#include "tests/fabric/verbs_pair.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre, ::testing::SizeIs;
using verbs::QpState, verbs::QpType;

namespace access = verbs::access;

class QueuePairBindTest : public VerbsPair {
 protected:
  void ConnectWithWindow(QpType type = QpType::kRc) {
    Connect(type);
    region_ = *b_->provider.CreateMr(
        {.pd = b_->pd.get(),
         .memory = b_->memory,
         .start = FakeMemory::kStart,
         .length = VerbsPeer::kSize,
         .address = FakeMemory::kStart,
         .access = access::kBindWindow | access::kLocalWrite});
    window_ = *b_->provider.CreateMw(*b_->pd);
  }
  verbs::SendRequest Bind(size_t offset, size_t size,
                          uint32_t rights = access::kRemoteWrite) {
    verbs::SendRequest request{};
    request.work.wr_id = 9;
    request.work.opcode = IB_UVERBS_WR_BIND_MW;
    request.bind = verbs::WindowBind{.window = window_.get(),
                                     .region = region_.get(),
                                     .address = FakeMemory::kStart + offset,
                                     .length = size,
                                     .access = rights};
    return request;
  }
  // By the peer, through the window.
  absl::Status Write(size_t there, size_t size) {
    verbs::SendRequest request = a_->Request(IB_UVERBS_WR_RDMA_WRITE, 0, size);
    request.work.wr.rdma.remote_addr = FakeMemory::kStart + there;
    request.work.wr.rdma.rkey = window_->rkey();
    return a_->Post(std::move(request));
  }

  std::unique_ptr<verbs::Mr> region_;
  std::unique_ptr<verbs::Mw> window_;
};

TEST_F(QueuePairBindTest, APeerWritesThroughAWindow) {
  ConnectWithWindow();
  ASSERT_TRUE(b_->Post(Bind(100, 50)).ok());
  const auto bound = b_->Poll();
  ASSERT_THAT(bound, SizeIs(1));
  EXPECT_EQ(bound[0].status, verbs::wc_status::kSuccess);
  EXPECT_EQ(bound[0].opcode, uint32_t{IB_UVERBS_WC_BIND_MW});
  EXPECT_EQ(bound[0].wr_id, 9u);
  a_->memory->Put(0, "through the window");
  ASSERT_TRUE(Write(110, 18).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_EQ(b_->memory->Text(110, 18), "through the window");
}

TEST_F(QueuePairBindTest, NothingBesideTheWindowIsReached) {
  ConnectWithWindow();
  ASSERT_TRUE(b_->Post(Bind(100, 50)).ok());
  ASSERT_TRUE(Write(140, 11).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kRemoteAccess));
}

TEST_F(QueuePairBindTest, ABindCompletesAfterWhatWasPostedBeforeIt) {
  ConnectWithWindow();
  ASSERT_TRUE(a_->Receive(0, 10).ok());
  ASSERT_TRUE(b_->Send(0, 10).ok());
  ASSERT_TRUE(b_->Post(Bind(0, 10)).ok());
  EXPECT_THAT(b_->PollStatuses(), SizeIs(0)) << "not acknowledged yet";
  Settle();
  const auto done = b_->Poll();
  ASSERT_THAT(done, SizeIs(2));
  EXPECT_EQ(done[0].opcode, uint32_t{IB_UVERBS_WC_SEND});
  EXPECT_EQ(done[1].opcode, uint32_t{IB_UVERBS_WC_BIND_MW});
}

TEST_F(QueuePairBindTest, AFencedBindWaitsForReads) {
  ConnectWithWindow();
  ASSERT_TRUE(b_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, 10, *a_, 0).ok());
  const uint32_t before = window_->rkey();
  verbs::SendRequest bind = Bind(0, 10);
  bind.work.send_flags = verbs::send_flag::kFence;
  ASSERT_TRUE(b_->Post(std::move(bind)).ok());
  EXPECT_EQ(window_->rkey(), before);
  Settle();
  EXPECT_NE(window_->rkey(), before);
  EXPECT_THAT(b_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess,
                                              verbs::wc_status::kSuccess));
}

TEST_F(QueuePairBindTest, AFailedBindEndsTheConnection) {
  ConnectWithWindow();
  ASSERT_TRUE(b_->Post(Bind(VerbsPeer::kSize, 1)).ok());
  EXPECT_THAT(b_->PollStatuses(), ElementsAre(verbs::wc_status::kWindowBind));
  EXPECT_EQ(b_->State(), QpState::kError);
}

TEST_F(QueuePairBindTest, UnreliableConnectionsBindAndDatagramsDoNot) {
  ConnectWithWindow(QpType::kUc);
  EXPECT_TRUE(b_->Post(Bind(0, 10)).ok());
  ConnectWithWindow(QpType::kUd);
  EXPECT_TRUE(absl::IsInvalidArgument(b_->Post(Bind(0, 10))));
}

TEST_F(QueuePairBindTest, AClientsCommandWithoutAWindowIsRefused) {
  ConnectWithWindow();
  verbs::SendRequest request = Bind(0, 10);
  request.bind.reset();
  EXPECT_TRUE(absl::IsInvalidArgument(b_->Post(std::move(request))));
}

}  // namespace
}  // namespace ibemu::fabric
