#include "daemon/scenario/scenario_player.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "testing/virtual_timers.h"

namespace ibemu::daemon {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;

class ScenarioPlayerTest : public ::testing::Test,
                           public ScenarioPlayer::Stage {
 protected:
  absl::Status Do(const ScenarioStep& step, absl::Duration time) override {
    EXPECT_EQ(timers_.Now() - start_, time);
    done_.push_back(
        absl::StrCat(absl::ToInt64Milliseconds(time), " ", step.command));
    if (step.command == wrong_) return absl::NotFoundError("no such thing");
    return absl::OkStatus();
  }
  void OnEnd(const ScenarioStep* failed, const absl::Status& status) override {
    end_ = failed == nullptr
               ? "ended"
               : absl::StrCat(failed->line, ": ", status.message());
  }

  void Play(std::vector<ScenarioStep> steps) {
    timers_.RunFor(absl::Seconds(100));
    start_ = timers_.Now();
    ScenarioPlan plan;
    plan.steps = std::move(steps);
    player_ = std::make_unique<ScenarioPlayer>(timers_, plan, *this);
    player_->Start();
    EXPECT_THAT(done_, IsEmpty());
  }

  testing::VirtualTimers timers_;
  absl::Time start_;
  std::unique_ptr<ScenarioPlayer> player_;
  std::vector<std::string> done_;
  std::string wrong_ = "wrong";
  std::string end_;
};

ScenarioStep At(int milliseconds, std::string command) {
  return {.at = absl::Milliseconds(milliseconds),
          .command = std::move(command)};
}

ScenarioStep Every(int milliseconds, int64_t times, std::string command) {
  return {.at = absl::Milliseconds(milliseconds),
          .every = absl::Milliseconds(milliseconds),
          .times = times,
          .command = std::move(command)};
}

TEST_F(ScenarioPlayerTest, DoesEachStepExactlyAtItsTime) {
  Play({At(20, "b"), At(10, "a"), At(0, "now")});
  timers_.RunPending();
  EXPECT_THAT(done_, ElementsAre("0 now"));
  timers_.RunFor(absl::Milliseconds(19));
  EXPECT_THAT(done_, ElementsAre("0 now", "10 a"));
  EXPECT_EQ(end_, "");
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(done_, ElementsAre("0 now", "10 a", "20 b"));
  EXPECT_EQ(end_, "ended");
  EXPECT_TRUE(timers_.idle());
}

TEST_F(ScenarioPlayerTest, DoesWhatIsDueTogetherInTheOrderOfTheFile) {
  Play({At(60, "first"), Every(20, 3, "second"), Every(30, 2, "third"),
        At(60, "fourth")});
  timers_.RunFor(absl::Seconds(1));
  EXPECT_THAT(done_,
              ElementsAre("20 second", "30 third", "40 second", "60 first",
                          "60 second", "60 third", "60 fourth"));
}

TEST_F(ScenarioPlayerTest, RepeatsForEverWhatHasNoEnd) {
  Play({Every(10, ScenarioStep::kForever, "again")});
  timers_.RunFor(absl::Seconds(10));
  EXPECT_THAT(done_, SizeIs(1000));
  EXPECT_EQ(end_, "");
}

TEST_F(ScenarioPlayerTest, WhoeverEndsItLeavesTheRestUndone) {
  Play({At(10, "a"), At(20, "b")});
  timers_.RunFor(absl::Milliseconds(15));
  player_.reset();
  EXPECT_TRUE(timers_.idle());
  EXPECT_THAT(done_, ElementsAre("10 a"));
  EXPECT_EQ(end_, "");
}

TEST_F(ScenarioPlayerTest, AStepThatCannotBeDoneEndsIt) {
  ScenarioStep wrong = At(10, "wrong");
  wrong.line = 7;
  Play({At(10, "a"), wrong, At(10, "b"), Every(5, 9, "c")});
  timers_.RunFor(absl::Seconds(1));
  EXPECT_THAT(done_, ElementsAre("5 c", "10 a", "10 wrong"));
  EXPECT_EQ(end_, "7: no such thing");
  EXPECT_TRUE(timers_.idle());
}

}  // namespace
}  // namespace ibemu::daemon
