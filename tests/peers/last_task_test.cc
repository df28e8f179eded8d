#include "peers/last_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <vector>

namespace ibemu::peers {
namespace {

using ::testing::ElementsAre;

// Tasks are numbers, and each waits until it may be done.
class LastTaskTest : public ::testing::Test {
 protected:
  void Await(size_t begun) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_.size() == begun; });
  }
  void Let(int tasks) {
    const std::lock_guard lock(mutex_);
    may_ += tasks;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> begun_;
  int may_ = 0;
  LastTask<int> last_{[this](int task) {
    std::unique_lock lock(mutex_);
    begun_.push_back(task);
    changed_.notify_all();
    changed_.wait(lock, [this] { return may_ > 0; });
    --may_;
  }};
};

TEST_F(LastTaskTest, DoesOneAfterTheOther) {
  for (const int task : {1, 2, 3}) {
    last_.Do(task);
    Await(static_cast<size_t>(task));
    Let(1);
  }
  EXPECT_THAT(begun_, ElementsAre(1, 2, 3));
}

TEST_F(LastTaskTest, DoesTheLastOfThoseThatCameMeanwhile) {
  last_.Do(1);
  Await(1);
  for (const int task : {2, 3, 4}) last_.Do(task);
  Let(2);
  Await(2);
  EXPECT_THAT(begun_, ElementsAre(1, 4));
}

}  // namespace
}  // namespace ibemu::peers
