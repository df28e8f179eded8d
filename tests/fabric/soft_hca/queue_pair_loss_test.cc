// What a reliable connection promises, whatever is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "fabric/soft_hca/queue_pair.h"
#include "tests/fabric/verbs_peer.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

constexpr size_t kMessages = 60;
constexpr size_t kRoom = 4096;       // for each message
constexpr size_t kCounter = 900000;  // where atomics add

class QueuePairLossTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  void Lose(double chance) {
    for (const auto direction :
         {Fabric::Direction::kTransmit, Fabric::Direction::kReceive}) {
      ASSERT_TRUE(
          row_.fabric.AddFault(row_.host_1, 1, direction, {.loss = chance})
              .ok());
    }
  }
  // Numbered messages, with additions between them.
  void Post(VerbsPeer& a, const VerbsPeer& b) {
    for (size_t i = 0; i < kMessages; ++i) {
      a.memory->PutValue(i * kRoom, i);
      const size_t size = 8 + random_.Below(kRoom - 8);
      ASSERT_TRUE(a.Send(i * kRoom, size).ok());
      if (i % 3 != 0) continue;
      ASSERT_TRUE(a.Post(a.Atomic(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
                                  kCounter + 8 * i, b, kCounter, 1))
                      .ok());
    }
  }

  RowFabric row_{1, GetParam()};
  Random random_ = Random::ForStream(GetParam(), "messages");
};

TEST_P(QueuePairLossTest, DeliversInOrderOnceOrSaysThatItGaveUp) {
  row_.Configure();
  VerbsPeer a(row_, row_.host_1, verbs::QpType::kRc);
  VerbsPeer b(row_, row_.host_2, verbs::QpType::kRc);
  a.Connect(b, 2);
  b.Connect(a, 1);
  for (size_t i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(b.Receive(i * kRoom, kRoom).ok());
  }
  Lose(static_cast<double>(random_.Below(60)) / 100);
  Post(a, b);
  row_.timers.RunFor(absl::Minutes(10));

  const std::vector<uint32_t> sent = a.PollStatuses();
  ASSERT_EQ(sent.size(), kMessages + kMessages / 3) << "each completes once";
  const auto failed = std::find_if(sent.begin(), sent.end(),
                                   [](uint32_t status) { return status != 0; });
  if (failed != sent.end()) {
    EXPECT_EQ(*failed, verbs::wc_status::kRetriesExceeded);
    EXPECT_TRUE(std::all_of(failed + 1, sent.end(), [](uint32_t status) {
      return status == verbs::wc_status::kFlushed;
    }));
  }
  const std::vector<uint32_t> received = b.PollStatuses();
  for (size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i], verbs::wc_status::kSuccess);
    EXPECT_EQ(b.memory->Value(i * kRoom), i) << "its own, in its place";
  }
  // Of four completions three are messages: what was acknowledged arrived.
  const auto whole = static_cast<size_t>(failed - sent.begin());
  EXPECT_GE(received.size(), whole * 3 / 4);
  const uint64_t added = b.memory->Value(kCounter);
  EXPECT_GE(added, whole / 4);
  EXPECT_LE(added, kMessages / 3);
  if (failed != sent.end()) return;
  EXPECT_EQ(received.size(), kMessages);
  EXPECT_EQ(added, kMessages / 3);
  for (size_t i = 0; i < kMessages; i += 3) {
    EXPECT_EQ(a.memory->Value(kCounter + 8 * i), i / 3) << "found once";
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, QueuePairLossTest,
                         ::testing::Range(uint64_t{1}, uint64_t{41}));

}  // namespace
}  // namespace ibemu::fabric
