#include "base/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testing/post_box.h"
#include "testing/virtual_timers.h"

namespace ibemu {
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
    return [this, name = std::move(name)](WorkerPool::Outcome outcome) {
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

TEST_F(WorkerPoolTest, AnOwnerHasAShareOfTheStuckThreads) {
  constexpr ClientId kOfAnother{100};
  pool_ = std::make_unique<WorkerPool>(
      timers_, posts_.Poster(),
      WorkerPool::Limits{.threads = 1, .stuck_of_owner = 2, .stuck_threads = 3},
      nullptr, [](ClientId client) {
        return OwnerId{client < kOfAnother ? uint64_t{1} : uint64_t{2}};
      });
  const Latch latch = RunStuck(kAnna, "a");
  LosePatience();
  stuck_.push_back(RunStuck(kBert, "b"));
  LosePatience();
  pool_->Run(
      ClientId{3}, [] {}, Note("c"));
  timers_.RunPending();
  EXPECT_EQ(story_, "a?b?c?");
  pool_->Run(
      kOfAnother, [] {}, Note("d"));
  posts_.WaitAndRun();
  EXPECT_EQ(story_, "a?b?c?d!");

  latch->count_down();
  posts_.WaitAndRun();
  pool_->Run(
      ClientId{3}, [] {}, Note("e"));
  posts_.WaitAndRun();
  EXPECT_EQ(story_, "a?b?c?d!e!");
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

TEST_F(WorkerPoolTest, TheEndWaitsForAJobNoLongerThanItMay) {
  pool_ = std::make_unique<WorkerPool>(
      timers_, posts_.Poster(),
      WorkerPool::Limits{.patience = absl::Hours(1),
                         .at_end = absl::ZeroDuration()});
  stuck_.push_back(RunStuck(kAnna, "a"));
  pool_.reset();
  EXPECT_EQ(story_, "");
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

// A loop whose turn comes when the test says so.
class FakeBriefJobs final : public BriefJobs {
 public:
  void RunBriefly(BriefJob job) override { jobs_.push_back(std::move(job)); }

  size_t waiting() const { return jobs_.size(); }
  BriefJob Take() {
    BriefJob job = std::move(jobs_.front());
    jobs_.pop_front();
    return job;
  }
  void RunOne(absl::Duration took = absl::Microseconds(1)) {
    BriefJob job = Take();
    job.run();
    job.done(took);
  }

 private:
  std::deque<BriefJob> jobs_;
};

class BriefJobsTest : public WorkerPoolTest {
 protected:
  BriefJobsTest() {
    pool_ = std::make_unique<WorkerPool>(
        timers_, posts_.Poster(),
        WorkerPool::Limits{.threads = 1, .stuck_threads = 2}, &loop_);
  }

  void RunBriefly(ClientId client, const std::string& name) {
    pool_->RunBriefly(
        client, [this, name] { story_ += name; }, Note(name));
  }

  FakeBriefJobs loop_;
};

TEST_F(BriefJobsTest, RunOnTheLoopOneAfterTheOther) {
  RunBriefly(kAnna, "a");
  RunBriefly(kAnna, "b");
  EXPECT_EQ(loop_.waiting(), 1u);
  loop_.RunOne();
  EXPECT_EQ(story_, "aa!");
  loop_.RunOne();
  EXPECT_EQ(story_, "aa!bb!");
}

TEST_F(BriefJobsTest, WaitForTheLongJobBeforeThem) {
  const Latch latch = RunStuck(kAnna, "long");
  RunBriefly(kAnna, "a");
  EXPECT_EQ(loop_.waiting(), 0u);
  latch->count_down();
  posts_.WaitAndRun();
  loop_.RunOne();
  EXPECT_EQ(story_, "long!aa!");
}

TEST_F(BriefJobsTest, OneThatIsHeldUpMakesItsClientStuckAndNobodyElse) {
  RunBriefly(kAnna, "a");
  FakeBriefJobs::BriefJob held_up = loop_.Take();
  held_up.late();
  RunBriefly(kAnna, "b");
  RunBriefly(kBert, "c");
  loop_.RunOne();
  LosePatience();
  EXPECT_EQ(story_, "cc!a?b?");
  RunBriefly(kAnna, "d");
  timers_.RunPending();
  EXPECT_EQ(story_, "cc!a?b?d?");
  held_up.done(absl::Seconds(3));
  pool_->RunBriefly(
      kAnna, [] {}, Note("e"));
  posts_.WaitAndRun();
  EXPECT_EQ(story_, "cc!a?b?d?e!");
}

TEST_F(BriefJobsTest, AreGivenToThreadsWhenTheirClientWasSlow) {
  for (int i = 0; i < 4; ++i) {
    pool_->RunBriefly(
        kAnna, [] {}, [](WorkerPool::Outcome) {});
    loop_.RunOne(absl::Milliseconds(3));
  }
  pool_->RunBriefly(
      kAnna, [] {}, Note("a"));
  RunBriefly(kBert, "b");
  EXPECT_EQ(loop_.waiting(), 1u);
  posts_.WaitAndRun();
  EXPECT_EQ(story_, "a!");
  timers_.RunFor(absl::Seconds(2));
  pool_->RunBriefly(
      kAnna, [] {}, Note("c"));
  EXPECT_EQ(loop_.waiting(), 2u);
}

TEST_F(BriefJobsTest, MayTakeLongNowAndThen) {
  for (int i = 0; i < 10; ++i) {
    pool_->RunBriefly(
        kAnna, [] {}, [](WorkerPool::Outcome) {});
    loop_.RunOne(absl::Milliseconds(3));
    timers_.RunFor(absl::Seconds(1));
  }
  RunBriefly(kAnna, "a");
  EXPECT_EQ(loop_.waiting(), 1u);
}

TEST_F(BriefJobsTest, AreGivenToThreadsWhenManyClientsAreSlowTogether) {
  for (uint64_t client = 11; client < 20; ++client) {
    pool_->RunBriefly(
        ClientId{client}, [] {}, [](WorkerPool::Outcome) {});
    loop_.RunOne(absl::Milliseconds(6));
  }
  pool_->RunBriefly(
      kAnna, [] {}, Note("a"));
  EXPECT_EQ(loop_.waiting(), 0u);
  posts_.WaitAndRun();
  EXPECT_EQ(story_, "a!");
}

TEST_F(BriefJobsTest, AreRefusedWhenTooManyAreHeldUp) {
  std::vector<FakeBriefJobs::BriefJob> held_up;
  for (const ClientId client : {kAnna, kBert}) {
    RunBriefly(client, "a");
    held_up.push_back(loop_.Take());
    held_up.back().late();
  }
  LosePatience();
  EXPECT_EQ(story_, "a?a?");
  RunBriefly(ClientId{3}, "c");
  timers_.RunPending();
  EXPECT_EQ(story_, "a?a?c?");
  held_up.front().done(absl::Seconds(3));
  RunBriefly(ClientId{3}, "d");
  loop_.RunOne();
  EXPECT_EQ(story_, "a?a?c?dd!");
}

TEST_F(BriefJobsTest, OfAnOwnerAreRefusedWhenHisShareIsHeldUp) {
  pool_ = std::make_unique<WorkerPool>(
      timers_, posts_.Poster(),
      WorkerPool::Limits{.threads = 1, .stuck_of_owner = 1, .stuck_threads = 9},
      &loop_, [](ClientId client) {
        return OwnerId{client == kBert ? uint64_t{2} : uint64_t{1}};
      });
  RunBriefly(kAnna, "a");
  FakeBriefJobs::BriefJob held_up = loop_.Take();
  held_up.late();
  RunBriefly(ClientId{3}, "c");
  timers_.RunPending();
  EXPECT_EQ(story_, "c?");
  RunBriefly(kBert, "b");
  EXPECT_EQ(loop_.waiting(), 1u);
  held_up.done(absl::Milliseconds(6));
  RunBriefly(ClientId{3}, "d");
  EXPECT_EQ(loop_.waiting(), 2u);
}

}  // namespace
}  // namespace ibemu
