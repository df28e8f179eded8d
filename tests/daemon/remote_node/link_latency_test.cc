#include "daemon/remote_node/link_latency.h"

#include <gtest/gtest.h>

namespace ibemu::daemon {
namespace {

constexpr absl::Time kStart = absl::FromUnixSeconds(1000);

TEST(LinkLatencyTest, KnowsNothingBeforeTheFirstEchoHasComeBack) {
  LinkLatency latency;
  EXPECT_EQ(latency.Behind(kStart), absl::ZeroDuration());
  latency.Send(kStart);
  EXPECT_FALSE(latency.round_trip());
}

TEST(LinkLatencyTest, TellsHowLongTheLastEchoTook) {
  LinkLatency latency;
  const uint64_t first = latency.Send(kStart);
  ASSERT_TRUE(latency.OnReturned(first, kStart + absl::Milliseconds(3)).ok());
  EXPECT_EQ(latency.round_trip(), absl::Milliseconds(3));
  const uint64_t second = latency.Send(kStart + absl::Seconds(10));
  EXPECT_EQ(latency.round_trip(), absl::Milliseconds(3));
  ASSERT_TRUE(latency.OnReturned(second, kStart + absl::Seconds(11)).ok());
  EXPECT_EQ(latency.round_trip(), absl::Seconds(1));
}

TEST(LinkLatencyTest, AnAdapterIsBehindWhileItOwesAnEcho) {
  LinkLatency latency;
  const uint64_t echo = latency.Send(kStart);
  EXPECT_EQ(latency.Behind(kStart + absl::Seconds(4)), absl::Seconds(4));
  ASSERT_TRUE(latency.OnReturned(echo, kStart + absl::Seconds(5)).ok());
  EXPECT_EQ(latency.Behind(kStart + absl::Seconds(6)), absl::ZeroDuration());
}

TEST(LinkLatencyTest, AnEchoThatNobodySentIsRefused) {
  LinkLatency latency;
  EXPECT_FALSE(latency.OnReturned(0, kStart).ok());
  const uint64_t echo = latency.Send(kStart);
  EXPECT_EQ(latency.OnReturned(echo + 1, kStart).message(),
            "echo 2 comes back, and was not sent");
  ASSERT_TRUE(latency.OnReturned(echo, kStart).ok());
  EXPECT_FALSE(latency.OnReturned(echo, kStart).ok());
}

}  // namespace
}  // namespace ibemu::daemon
