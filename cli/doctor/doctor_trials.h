// Operations that are tried on a machine to learn whether it permits them.
#ifndef IBEMU_CLI_DOCTOR_DOCTOR_TRIALS_H_
#define IBEMU_CLI_DOCTOR_DOCTOR_TRIALS_H_

#include "absl/status/status.h"

namespace ibemu::cli {

// Results of operations that are actually tried, each in a child process.
struct DoctorTrials {
  absl::Status namespaces;  // make a user and a mount namespace
  absl::Status fuse;        // open /dev/fuse and mount it there
  absl::Status overlay;     // mount an overlay on /sys/class
  absl::Status uring;       // io_uring_setup
  absl::Status memory;      // write to another of our processes
  absl::Status network;     // make a network namespace and a device in it
};

// Tries them all.
DoctorTrials TryEverything();

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_DOCTOR_DOCTOR_TRIALS_H_
