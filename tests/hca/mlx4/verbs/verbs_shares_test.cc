// Clients that keep what they have, and others beside them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "hca/mlx4/core/verbs_attributes.h"
#include "tests/hca/mlx4/verbs_lab.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace status = verbs::wc_status;
using ::testing::ElementsAre, ::testing::Pair, ::testing::SizeIs;

// What one process may have of the memory for sends and for receives, when
// there is no other: half of what is for all, and a piece.
constexpr size_t kMaxSends = size_t{26} << 20;
constexpr size_t kMaxReceives = size_t{42} << 20;

class VerbsSharesTest : public VerbsLab {
 protected:
  static VerbsProvider& ProviderOf(Mlx4Device& device) {
    return static_cast<VerbsProvider&>(device.provider());
  }
  static Options Shared(bool shared) {
    Options options;
    options.shared = shared;
    return options;
  }

  // A connection that waits for receive requests as long as it takes.
  void ConnectPatiently(VerbsEnd& a, VerbsEnd& b) {
    auto to_b = VerbsEnd::Towards(b), to_a = VerbsEnd::Towards(a);
    to_a.rnr_retry = to_b.rnr_retry = 7;
    a.Connect(to_b);
    b.Connect(to_a);
  }

  using Ends = std::vector<std::unique_ptr<VerbsEnd>>;

  // So many processes, one after the other, take all they may for receives.
  Ends KeepReceives(int count) {
    Ends ends;
    for (int i = 0; i < count; ++i) {
      ends.push_back(End(*device_b_));
      ends.back()->Connect(VerbsEnd::Towards(1, LidOf(*device_a_)));
      for (int j = 0; j < 50; ++j) {
        EXPECT_TRUE(ends.back()->Receive(0, kMaxMessage).ok());
      }
    }
    return ends;
  }

  // Two others, each a process of its own, send each other the longest.
  void ExpectThatOthersGoOn() {
    VerbsEnd c(timers_, device_a_->provider(), {});
    VerbsEnd d(timers_, device_b_->provider(), {});
    ConnectPatiently(c, d);
    for (VerbsEnd* const end : {&c, &d}) {
      ASSERT_TRUE(end->Receive(0, kMaxMessage, 1).ok());
    }
    for (VerbsEnd* const end : {&c, &d}) {
      ASSERT_TRUE(end->Send(kMaxMessage, kMaxMessage, 2).ok());
      Run(absl::Milliseconds(10));
    }
    EXPECT_THAT(c.PollEnds(), ElementsAre(Pair(2u, status::kSuccess),
                                          Pair(1u, status::kSuccess)));
    EXPECT_THAT(d.PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(2u, status::kSuccess)));
  }
};

TEST_F(VerbsSharesTest,
       OthersGoOnBesideOneWhoPostsReceivesThatNothingComesFor) {
  for (const bool shared : {false, true}) {
    Options options = Shared(shared);
    options.srq_requests = 50;
    Connect({}, options);
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(b_->Receive(0, kMaxMessage).ok());
    }
    DmaPool& memory = ProviderOf(*device_b_).receive_memory();
    EXPECT_EQ(memory.in_use(), kMaxReceives);
    ExpectThatOthersGoOn();
    b_.reset();
    EXPECT_EQ(memory.in_use(), 0u) << "it comes back with its queues";
    a_.reset();
  }
}

TEST_F(VerbsSharesTest, OthersGoOnBesideOneWhoseSendsNobodyTakes) {
  Make();
  ConnectPatiently(*a_, *b_);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(a_->Send(0, kMaxMessage).ok());
  Run(absl::Milliseconds(10));
  DmaPool& memory = ProviderOf(*device_a_).send_memory();
  EXPECT_EQ(memory.in_use(), kMaxSends);
  ExpectThatOthersGoOn();
  a_->Modify({}, verbs::QpState::kReset);
  EXPECT_EQ(memory.in_use(), 0u);
}

TEST_F(VerbsSharesTest, OthersGoOnBesideManyWhoKeepAllTheyMay) {
  const Ends keepers = KeepReceives(8);
  ExpectThatOthersGoOn();
}

TEST_F(VerbsSharesTest, SendsThatWaitForMemoryGoOnWhenOthersWereTaken) {
  Make();
  ConnectPatiently(*a_, *b_);
  constexpr uint64_t kMessages = 14;  // one too many
  for (uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(a_->Send(0, kMaxMessage, i).ok());
  }
  Run(absl::Milliseconds(10));
  for (uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(b_->Receive(0, kMaxMessage, i).ok());
  }
  Run(absl::Milliseconds(50));
  EXPECT_THAT(a_->PollEnds(), SizeIs(kMessages));
  EXPECT_THAT(b_->PollEnds(), SizeIs(kMessages));
}

TEST_F(VerbsSharesTest, HoldsNoMoreForOneWhoTakesSlowlyThanItMayHave) {
  const Ends keepers = KeepReceives(3);  // they leave 10 MiB
  for (const bool shared : {false, true}) {
    Make({}, Shared(shared));
    ConnectPatiently(*a_, *b_);
    a_->memory->Put(0, Pattern(kMaxMessage));
    b_->memory->SetDelay(absl::Milliseconds(10));
    constexpr uint64_t kMessages = 6;
    for (uint64_t i = 0; i < kMessages; ++i) {
      ASSERT_TRUE(b_->Receive(i % 3 * kMaxMessage, kMaxMessage, i).ok());
      ASSERT_TRUE(a_->Send(i, kMaxMessage - i, i).ok());
    }
    Run(absl::Milliseconds(100));
    EXPECT_GT(b_->memory->most_waiting, kMaxMessage);
    EXPECT_LE(b_->memory->most_waiting, 3 * kMaxMessage);
    const auto ends = b_->PollEnds();
    ASSERT_THAT(ends, SizeIs(kMessages));
    for (uint64_t i = 0; i < kMessages; ++i) {
      EXPECT_EQ(ends[i], std::pair(i, status::kSuccess));
    }
    constexpr size_t kLast = kMessages - 1;
    EXPECT_EQ(b_->memory->Text(kLast % 3 * kMaxMessage, 5000),
              Pattern(kMaxMessage).substr(kLast, 5000));
    a_.reset();
    b_.reset();
  }
}

TEST_F(VerbsSharesTest, TakesNoRequestForOneThatIsNotInPlaceYet) {
  for (const bool shared : {false, true}) {
    Options options = Shared(shared);
    options.capacity.receive_requests = options.srq_requests = 3;
    Connect({}, options);
    b_->memory->SetDelay(absl::Milliseconds(10));
    for (size_t size : {10, 0, 0}) {
      ASSERT_TRUE(b_->Receive(0, size).ok());
      ASSERT_TRUE(a_->Send(0, size).ok());
    }
    Run(absl::Milliseconds(2));
    EXPECT_THAT(a_->PollEnds(), SizeIs(3));
    EXPECT_TRUE(absl::IsResourceExhausted(b_->Receive(0, 0)));
    Run(absl::Milliseconds(10));
    EXPECT_THAT(b_->PollEnds(), SizeIs(3));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(b_->Receive(0, 0).ok());
    EXPECT_TRUE(absl::IsResourceExhausted(b_->Receive(0, 0)));
    a_.reset();
    b_.reset();
  }
}

TEST_F(VerbsSharesTest, AQueuePairThatGoesLeavesItsPlacesInTheSharedQueue) {
  Options options = Shared(true);
  options.srq_requests = 3;
  Connect({}, options);
  b_->memory->SetDelay(absl::Milliseconds(10));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(b_->Receive(0, 10).ok());
    ASSERT_TRUE(a_->Send(0, 10).ok());
  }
  Run(absl::Milliseconds(2));
  EXPECT_TRUE(absl::IsResourceExhausted(b_->Receive(0, 10)));
  b_->qp.reset();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(b_->Receive(0, 10).ok());
}

TEST_F(VerbsSharesTest, HasQueuePairsForSoManyProcessesAndNotForMore) {
  Make();
  verbs::Provider& provider = device_a_->provider();
  verbs::QpInit init;
  init.send_cq = init.receive_cq = a_->cq.get();
  std::vector<std::unique_ptr<verbs::Pd>> pds;
  std::vector<std::unique_ptr<verbs::Qp>> qps;
  for (uint64_t process = 1; process <= DmaPool::kMaxShares; ++process) {
    pds.push_back(*provider.CreatePd(process));
    init.pd = pds.back().get();
    auto qp = provider.CreateQp(init, *a_);
    if (process == DmaPool::kMaxShares) {  // one more than there is place for
      EXPECT_TRUE(absl::IsResourceExhausted(qp.status()));
    } else {
      ASSERT_TRUE(qp.ok()) << qp.status();
      qps.push_back(*std::move(qp));
    }
  }
  qps.pop_back();
  auto qp = provider.CreateQp(init, *a_);
  EXPECT_TRUE(qp.ok()) << qp.status();
}

}  // namespace
}  // namespace ibemu::hca::mlx4
