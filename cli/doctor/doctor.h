// The diagnosis of a machine: obstacles to ibemu, and their cures.
#ifndef IBEMU_CLI_DOCTOR_DOCTOR_H_
#define IBEMU_CLI_DOCTOR_DOCTOR_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace ibemu::cli {

// Facts that are read from the machine's files.
struct DoctorFacts {
  bool has_fuse_device = false;  // /dev/fuse exists, of any kind
  int io_uring_disabled = 0;     // kernel.io_uring_disabled: 0, 1, 2
  int ptrace_scope = 0;          // of Yama
  int seccomp_mode = 0;          // from /proc/self/status
  std::string container;         // "Docker", ...; empty if none is seen
  std::vector<std::string> rdma_devices;  // in /sys/class/infiniband
  uint64_t open_files = 0;                // the soft RLIMIT_NOFILE
  uid_t uid = 0;
};

// Reads the facts.  `root` is the root directory; tests have one of their own.
DoctorFacts ReadDoctorFacts(const std::string& root);

// Results of operations that are actually tried, each in a child process.
struct DoctorTrials {
  absl::Status namespaces;  // make a user and a mount namespace
  absl::Status fuse;        // open /dev/fuse and mount it there
  absl::Status overlay;     // mount an overlay on /sys/class
  absl::Status uring;       // io_uring_setup
  absl::Status memory;      // write to another of our processes
};
DoctorTrials TryEverything();

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
