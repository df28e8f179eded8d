#include <gmock/gmock.h>

#include <algorithm>

#include "base/random.h"
#include "tests/verbs/providers/provider_suites.h"

namespace ibemu::verbs {
namespace {

constexpr size_t kMessages = 60;
constexpr size_t kRoom = 4096;       // for each message
constexpr size_t kCounter = 900000;  // where atomics add

}  // namespace

TEST_P(PacketLossTest, DeliversInOrderOnceOrSaysThatItGaveUp) {
  Options b;
  b.rights = VerbsEnd::kAllRights;
  Connect({}, b);
  for (size_t i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(b_->Receive(i * kRoom, kRoom).ok());
  }
  Random random = Random::ForStream(std::get<1>(GetParam()), "messages");
  const double chance = static_cast<double>(random.Below(60)) / 100;
  hosts_->LoseFrom(HostNumber::kOne, chance);
  hosts_->LoseFrom(HostNumber::kTwo, chance);
  // Numbered messages, with additions between them.
  for (size_t i = 0; i < kMessages; ++i) {
    a_->memory->PutValue(i * kRoom, i);
    ASSERT_TRUE(a_->Send(i * kRoom, 8 + random.Below(kRoom - 8)).ok());
    if (i % 3 != 0) continue;
    ASSERT_TRUE(a_->Add(kCounter + 8 * i, *b_, kCounter, 1).ok());
  }
  Run(absl::Seconds(20));

  const std::vector<uint32_t> sent = a_->PollStatuses();
  ASSERT_EQ(sent.size(), kMessages + kMessages / 3) << "each completes once";
  const auto failed =
      std::ranges::find_if(sent, [](uint32_t status) { return status != 0; });
  if (failed != sent.end()) {
    EXPECT_EQ(*failed, wc_status::kRetriesExceeded);
    EXPECT_TRUE(std::all_of(failed + 1, sent.end(), [](uint32_t status) {
      return status == wc_status::kFlushed;
    }));
  }
  const std::vector<uint32_t> received = b_->PollStatuses();
  for (size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i], wc_status::kSuccess);
    EXPECT_EQ(b_->memory->Value(i * kRoom), i) << "its own, in its place";
  }
  // Of four completions three are messages: what was acknowledged arrived.
  const auto whole = static_cast<size_t>(failed - sent.begin());
  EXPECT_GE(received.size(), whole * 3 / 4);
  const uint64_t added = b_->memory->Value(kCounter);
  EXPECT_GE(added, whole / 4);
  EXPECT_LE(added, kMessages / 3);
  if (failed != sent.end()) return;
  EXPECT_EQ(received.size(), kMessages);
  EXPECT_EQ(added, kMessages / 3);
  for (size_t i = 0; i < kMessages; i += 3) {
    EXPECT_EQ(a_->memory->Value(kCounter + 8 * i), i / 3) << "found once";
  }
}

}  // namespace ibemu::verbs
