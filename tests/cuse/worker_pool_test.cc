#include "cuse/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <string>
#include <thread>

#include "testing/post_box.h"
#include "testing/virtual_timers.h"

namespace ibemu::cuse {
namespace {

constexpr ClientId kAnna{1};
constexpr ClientId kBert{2};

class WorkerPoolTest : public ::testing::Test {
 protected:
  using Latch = std::shared_ptr<std::latch>;

  ~WorkerPoolTest() override {
    for (const Latch& latch : stuck_) latch->count_down();
  }

  // Notes "name!" when it is done, "name?" when it is stuck.
  WorkerPool::Finish Note(std::string name) {
    return [this, name](WorkerPool::Outcome outcome) {
      story_ += name + (outcome == WorkerPool::Outcome::kDone ? "!" : "?");
    };
  }

  // A job that hangs until the latch is counted down, and says that it runs.
  Latch RunStuck(ClientId client, std::string name) {
    auto running = std::make_shared<std::latch>(1);
    auto latch = std::make_shared<std::latch>(1);
    pool_->Run(
        client,
        [running, latch] {
          running->count_down();
          latch->wait();
        },
        Note(std::move(name)));
    running->wait();
    return latch;
  }

  // Long enough for a job that hangs to be found out.
  void LosePatience() { timers_.RunFor(absl::Seconds(2)); }

  testing::VirtualTimers timers_;
  testing::PostBox posts_;
  std::string story_;
  std::vector<Latch> stuck_;
  std::unique_ptr<WorkerPool> pool_ = std::make_unique<WorkerPool>(
      timers_, posts_.Poster(),
      WorkerPool::Limits{.threads = 1, .stuck_threads = 2});
};

TEST_F(WorkerPoolTest, AJobRunsElsewhereAndFinishesHere) {
  std::thread::id worker;
  pool_->Run(
      kAnna, [&] { worker = std::this_thread::get_id(); }, Note("a"));
  EXPECT_EQ(story_, "");
  posts_.WaitAndRun();
  EXPECT_EQ(story_, "a!");
  EXPECT_NE(worker, std::this_thread::get_id());
}

TEST_F(WorkerPoolTest, JobsOfAClientRunInTheirOrder) {
  std::string order;
  for (const char name : {'1', '2', '3'}) {
    pool_->Run(
        kAnna, [&order, name] { order += name; }, Note(std::string(1, name)));
  }
  while (story_.size() < 6) posts_.WaitAndRun();
  EXPECT_EQ(order, "123");
  EXPECT_EQ(story_, "1!2!3!");
}

TEST_F(WorkerPoolTest, AStuckClientFailsAloneAndAtOnceFromThenOn) {
  stuck_.push_back(RunStuck(kAnna, "a"));
  pool_->Run(
      kAnna, [] {}, Note("b"));
  LosePatience();
  EXPECT_EQ(story_, "a?b?");

  pool_->Run(
      kAnna, [] {}, Note("c"));
  timers_.RunPending();
  EXPECT_EQ(story_, "a?b?c?");
  pool_->Run(
      kBert, [] {}, Note("d"));
  posts_.WaitAndRun();
  EXPECT_EQ(story_, "a?b?c?d!");
}

TEST_F(WorkerPoolTest, AJobThatWaitsForAThreadIsNotStuck) {
  stuck_.push_back(RunStuck(kAnna, "a"));
  pool_->Run(
      kBert, [] {}, Note("b"));
  LosePatience();  // with a; then b gets a thread
  posts_.WaitAndRun();
  EXPECT_EQ(story_, "a?b!");
}

TEST_F(WorkerPoolTest, AClientWhoseJobCameBackIsServedAgain) {
  const Latch latch = RunStuck(kAnna, "a");
  LosePatience();
  latch->count_down();
  posts_.WaitAndRun();  // nobody is told a second time
  EXPECT_EQ(story_, "a?");
  pool_->Run(
      kAnna, [] {}, Note("b"));
  posts_.WaitAndRun();
  EXPECT_EQ(story_, "a?b!");
}

TEST_F(WorkerPoolTest, TooManyStuckThreadsStopTheService) {
  for (const ClientId client : {kAnna, kBert}) {
    stuck_.push_back(RunStuck(client, "x"));
    LosePatience();
  }
  pool_->Run(
      ClientId{3}, [] {}, Note("y"));
  timers_.RunPending();
  EXPECT_EQ(story_, "x?x?y?");
}

TEST_F(WorkerPoolTest, AJobMayPostWhileItGoesOn) {
  std::latch go_on(1);
  pool_->Run(
      kAnna,
      [&, to_loop = pool_->ToLoop()] {
        to_loop([this] { story_ += "posted "; });
        go_on.wait();
      },
      Note("a"));
  posts_.WaitAndRun();
  EXPECT_EQ(story_, "posted ");
  go_on.count_down();
  posts_.WaitAndRun();
  EXPECT_EQ(story_, "posted a!");
}

TEST_F(WorkerPoolTest, TheEndLeavesStuckJobsBehind) {
  stuck_.push_back(RunStuck(kAnna, "a"));
  LosePatience();
  story_.clear();
  pool_.reset();
  timers_.RunFor(absl::Seconds(10));
  EXPECT_EQ(story_, "");
  EXPECT_TRUE(timers_.idle());
}

}  // namespace
}  // namespace ibemu::cuse
