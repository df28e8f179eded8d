#include "base/timer_queue.h"

#include <string>

#include "gtest/gtest.h"
#include "testing/virtual_timers.h"

namespace ibemu {
namespace {

class TimerQueueTest : public ::testing::Test {
 protected:
  Timers::Task Note(char c) {
    return [this, c] { story_ += c; };
  }
  ibemu::testing::VirtualTimers timers_;
  std::string story_;
};

TEST_F(TimerQueueTest, TasksRunByDeadlineThenByInsertion) {
  timers_.RunAfter(absl::Seconds(2), Note('c'));
  timers_.RunAfter(absl::Seconds(1), Note('a'));
  timers_.RunAfter(absl::Seconds(1), Note('b'));
  timers_.RunFor(absl::Seconds(2));
  EXPECT_EQ(story_, "abc");
  EXPECT_TRUE(timers_.idle());
}

TEST_F(TimerQueueTest, DeferredTasksRunBeforeTimersThatAreDue) {
  timers_.RunAfter(absl::ZeroDuration(), [this] {
    story_ += '1';
    timers_.RunSoon(Note('2'));
  });
  timers_.RunAfter(absl::ZeroDuration(), Note('3'));
  timers_.RunSoon(Note('0'));
  timers_.RunPending();
  EXPECT_EQ(story_, "0123");
}

TEST_F(TimerQueueTest, ACancelledTaskNeverRuns) {
  const TimerId id = timers_.RunAfter(absl::Seconds(1), Note('x'));
  timers_.Cancel(id);
  timers_.Cancel(id);
  timers_.RunFor(absl::Hours(1));
  EXPECT_EQ(story_, "");
}

TEST_F(TimerQueueTest, AHandlerSeesItsOwnDeadlineAsNow) {
  const absl::Time start = timers_.Now();
  absl::Time seen;
  timers_.RunAfter(absl::Seconds(3), [&] { seen = timers_.Now(); });
  timers_.RunFor(absl::Hours(1));
  EXPECT_EQ(seen - start, absl::Seconds(3));
}

}  // namespace
}  // namespace ibemu
