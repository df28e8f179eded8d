// ScenarioPlayer: the player of a scenario, which does each step at its time.
#ifndef IBEMU_DAEMON_SCENARIO_SCENARIO_PLAYER_H_
#define IBEMU_DAEMON_SCENARIO_SCENARIO_PLAYER_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>

#include "absl/status/status.h"
#include "base/timers.h"
#include "daemon/scenario/scenario_plan.h"

namespace ibemu::daemon {

// A ScenarioPlayer does the steps of a plan in time.  Those of one time are
// done in the order of the file, whatever their periods.
class ScenarioPlayer {
 public:
  class Stage {
   public:
    // Carries out one step.  An error ends the scenario.
    virtual absl::Status Do(const ScenarioStep& step, absl::Duration time) = 0;
    // All steps are done, or `failed` could not be.  Not called by the
    // destructor.
    virtual void OnEnd(const ScenarioStep* failed,
                       const absl::Status& status) = 0;

   protected:
    ~Stage() = default;
  };

  // `plan` has a step.  Both references must outlive this, which neither call
  // of Stage may destroy.
  ScenarioPlayer(Timers& timers, ScenarioPlan plan, Stage& stage);
  ScenarioPlayer(const ScenarioPlayer&) = delete;
  ScenarioPlayer& operator=(const ScenarioPlayer&) = delete;
  ~ScenarioPlayer();  // what is left is not done

  // Time counts from now on; nothing is done before it returns.
  void Start();

  const ScenarioPlan& plan() const { return plan_; }

 private:
  struct Due {
    absl::Duration time;
    size_t step;
    int64_t left;  // how often, this time included

    bool operator<(const Due& other) const {
      return std::tie(time, step) < std::tie(other.time, other.step);
    }
  };

  void Wait();
  void PlayDue();

  Timers& timers_;
  const ScenarioPlan plan_;
  Stage& stage_;
  absl::Time start_;
  std::set<Due> due_;
  TimerId timer_ = TimerId::kNone;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SCENARIO_SCENARIO_PLAYER_H_
