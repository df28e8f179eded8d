#include "loop/thread_handoff.h"

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace ibemu {
namespace {

constexpr absl::Duration kTimeout = absl::Milliseconds(1);

TEST(ThreadHandoffTest, TheBodyRunsOnOneThreadAsLongAsItsCallsReturn) {
  ThreadHandoff handoff(absl::Minutes(1));
  std::vector<std::thread::id> threads;
  handoff.Run([&] {
    for (int i = 0; i < 1000; ++i) {
      EXPECT_TRUE(handoff.Try([] {}));
    }
    threads.push_back(std::this_thread::get_id());
    return true;
  });
  EXPECT_EQ(threads.size(), 1u);
  EXPECT_NE(threads.front(), std::this_thread::get_id());
}

TEST(ThreadHandoffTest, AnotherThreadGoesOnWhenACallIsHeldUp) {
  ThreadHandoff handoff(kTimeout);
  std::promise<void> other_is_there;
  std::promise<void> first_has_left;
  std::atomic<int> turns = 0;
  handoff.Run([&] {
    if (turns++ == 0) {
      const bool still_ours =
          handoff.Try([&] { other_is_there.get_future().wait(); });
      EXPECT_FALSE(still_ours);
      first_has_left.set_value();
      return false;
    }
    other_is_there.set_value();
    first_has_left.get_future().wait();
    return true;
  });
  EXPECT_EQ(turns, 2);
}

TEST(ThreadHandoffTest, EachThreadThatIsHeldUpIsReplaced) {
  constexpr int kHeldUp = 5;
  ThreadHandoff handoff(kTimeout);
  std::promise<void> end;
  std::shared_future<void> ended = end.get_future().share();
  std::atomic<int> turns = 0, left = 0;
  handoff.Run([&] {
    if (turns++ == kHeldUp) {
      end.set_value();
      while (left != kHeldUp) std::this_thread::yield();
      return true;
    }
    EXPECT_FALSE(handoff.Try([ended] { ended.wait(); }));
    ++left;
    return false;
  });
  EXPECT_EQ(turns, kHeldUp + 1);
}

TEST(ThreadHandoffTest, WhoIsHeldUpMayComeBackWhenAllHasEnded) {
  auto held = std::make_shared<std::promise<void>>();
  auto back = std::make_shared<std::promise<bool>>();
  std::future<bool> came_back = back->get_future();
  {
    ThreadHandoff handoff(kTimeout);
    auto turns = std::make_shared<std::atomic<int>>(0);
    handoff.Run([&handoff, turns, held, back] {
      if ((*turns)++ > 0) return true;
      const bool ours = handoff.Try([held] { held->get_future().wait(); });
      back->set_value(ours);
      return false;
    });
  }
  held->set_value();
  EXPECT_FALSE(came_back.get());
}

}  // namespace
}  // namespace ibemu
