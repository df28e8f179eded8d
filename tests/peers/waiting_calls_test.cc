#include "peers/waiting_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <vector>

#include "absl/status/status.h"

namespace ibemu::peers {
namespace {

using Waits = std::vector<std::unique_ptr<WaitingCalls::Wait>>;

void Nothing() {}

TEST(WaitingCallsTest, ACallThatWaitsForTooLongIsCancelled) {
  WaitingCalls calls(absl::Milliseconds(1));
  std::promise<void> cancelled;
  const auto wait = calls.Begin("pc7", [&] { cancelled.set_value(); });
  ASSERT_TRUE(wait.ok());
  cancelled.get_future().wait();
}

TEST(WaitingCallsTest, ACallThatHasEndedIsNotCancelled) {
  WaitingCalls calls(absl::Milliseconds(1));
  std::atomic<bool> over = false;
  std::atomic<int> late = 0;
  // gRPC begins and ends with its first and last timer.
  const auto other = calls.Begin("pc8", Nothing);
  for (int i = 0; i < 1000; ++i) {
    over = false;
    auto wait = calls.Begin("pc7", [&] { late += over ? 1 : 0; });
    wait->reset();
    over = true;
  }
  // Timers go off in turn.
  std::promise<void> cancelled;
  const auto last = calls.Begin("pc7", [&] { cancelled.set_value(); });
  cancelled.get_future().wait();
  EXPECT_EQ(late, 0);
}

TEST(WaitingCallsTest, APeerWithTooManyKeepsNobodyElseOut) {
  WaitingCalls calls;
  Waits waits;
  for (size_t i = 0; i < WaitingCalls::kMaxOfOne; ++i) {
    waits.push_back(calls.Begin("pc7", Nothing).value());
  }
  const absl::Status refused = calls.Begin("pc7", Nothing).status();
  EXPECT_EQ(refused, absl::ResourceExhaustedError(
                         "256 calls of pc7 have not said yet what they want: "
                         "no more may wait"));
  EXPECT_TRUE(calls.Begin("pc8", Nothing).ok());
  waits.pop_back();
  EXPECT_TRUE(calls.Begin("pc7", Nothing).ok());
  waits.push_back(calls.Begin("pc7", Nothing).value());
  EXPECT_FALSE(calls.Begin("pc7", Nothing).ok());
}

}  // namespace
}  // namespace ibemu::peers
