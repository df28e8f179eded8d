#include "daemon/scenario/scenario_player.h"

#include <utility>

namespace ibemu::daemon {

ScenarioPlayer::ScenarioPlayer(Timers& timers, ScenarioPlan plan, Stage& stage)
    : timers_(timers), plan_(std::move(plan)), stage_(stage) {}

ScenarioPlayer::~ScenarioPlayer() { timers_.Cancel(timer_); }

void ScenarioPlayer::Start() {
  start_ = timers_.Now();
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const ScenarioStep& step = plan_.steps[i];
    due_.insert({.time = step.at, .step = i, .left = step.times});
  }
  Wait();
}

void ScenarioPlayer::Wait() {
  if (due_.empty()) return stage_.OnEnd(nullptr, absl::OkStatus());
  timer_ = timers_.RunAt(start_ + due_.begin()->time, [this] { PlayDue(); });
}

void ScenarioPlayer::PlayDue() {
  const absl::Duration now = timers_.Now() - start_;
  while (!due_.empty() && due_.begin()->time <= now) {
    Due due = *due_.begin();
    due_.erase(due_.begin());
    const ScenarioStep& step = plan_.steps[due.step];
    const absl::Status status = stage_.Do(step, due.time);
    if (!status.ok()) {
      due_.clear();
      return stage_.OnEnd(&step, status);
    }
    if (due.left == 1) continue;
    if (due.left != ScenarioStep::kForever) --due.left;
    due.time += step.every;
    due_.insert(due);
  }
  Wait();
}

}  // namespace ibemu::daemon
