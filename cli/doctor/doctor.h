// The diagnosis of a machine: obstacles to ibemu, and their cures.
#ifndef IBEMU_CLI_DOCTOR_DOCTOR_H_
#define IBEMU_CLI_DOCTOR_DOCTOR_H_

#include <string>
#include <vector>

#include "cli/doctor/doctor_facts.h"
#include "cli/doctor/doctor_trials.h"

namespace ibemu::cli {

// The doctor's finding about one subject.
struct Finding {
  enum class Level { kFine, kNote, kObstacle };
  Level level = Level::kFine;
  std::string subject;  // "/dev/fuse"
  std::string what;     // the fact that was found
  std::string cure;     // empty if there is nothing to do
};

// Returns one finding for each subject, whether it is an obstacle or not.
std::vector<Finding> Diagnose(const DoctorFacts& facts,
                              const DoctorTrials& trials);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_DOCTOR_DOCTOR_H_
