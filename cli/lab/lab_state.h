// LabState: the states of a lab's programs, and the rules that say which one
// starts next.
#ifndef IBEMU_CLI_LAB_LAB_STATE_H_
#define IBEMU_CLI_LAB_LAB_STATE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/lab/lab_plan.h"

namespace ibemu::cli {

// A LabState knows nothing of processes: it is told what has happened.  A lab
// ends when all commands have ended, or when one program has failed: then
// nothing more is started, and what runs is to be ended.
class LabState {
 public:
  // REQUIRES: `plan` outlives this object.
  explicit LabState(const LabPlan& plan)
      : plan_(plan), programs_(plan.programs.size()) {}

  // Returns the programs that are to be started now, and takes them as started.
  std::vector<size_t> TakeStarts();

  void OnLine(size_t program, std::string_view line);
  // `status` as a shell has it: 128 + n for signal n.
  void OnEnd(size_t program, int status);
  // The lab is to end, for `reason`, with this exit status.
  void Stop(int status, std::string reason);

  // Returns true if what runs is to be ended.
  bool ending() const { return ending_; }
  // Returns true if nothing runs any more, and nothing will.
  bool ended() const;
  bool running(size_t program) const {
    return programs_[program].phase == Phase::kRunning;
  }
  // Returns true if all programs were started, and those that have a `ready`
  // are ready.
  bool up() const;

  // The lab's exit status: 0, or that of the program that failed first.
  int status() const { return status_; }
  // Why the lab ended before its commands had; empty if it did not.
  const std::string& reason() const { return reason_; }

 private:
  enum class Phase { kWaiting, kRunning, kEnded };
  struct Program {
    Phase phase = Phase::kWaiting;
    bool ready = false;
  };

  bool MayStart(size_t program) const;
  // Returns the first program that waits for this one, or null.
  const LabProgram* WaiterFor(size_t program) const;
  bool CommandsHaveEnded() const;
  void Fail(size_t program, int status, std::string_view what);

  const LabPlan& plan_;
  std::vector<Program> programs_;
  bool ending_ = false;
  int status_ = 0;
  std::string reason_;
};

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_LAB_LAB_STATE_H_
