// What on a machine is in ibemu's way, and the cure.
#ifndef IBEMU_CLI_DOCTOR_DOCTOR_H_
#define IBEMU_CLI_DOCTOR_DOCTOR_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace ibemu::cli {

// What files of the machine say.
struct DoctorFacts {
  bool has_fuse_device = false;           // /dev/fuse, of whatever kind
  int io_uring_disabled = 0;              // kernel.io_uring_disabled: 0, 1, 2
  int ptrace_scope = 0;                   // of Yama
  int seccomp_mode = 0;                   // of /proc/self/status
  std::string container;                  // "Docker", ...; empty: none seen
  std::vector<std::string> rdma_devices;  // of /sys/class/infiniband
  uint64_t open_files = 0;                // RLIMIT_NOFILE, soft
  uid_t uid = 0;
};

// `root` stands for "/": tests have one of their own.
DoctorFacts ReadDoctorFacts(const std::string& root);

// What really happens when it is tried, in a child process.
struct DoctorTrials {
  absl::Status namespaces;  // user and mount namespace
  absl::Status fuse;        // open /dev/fuse and mount it there
  absl::Status overlay;     // on /sys/class
  absl::Status uring;       // io_uring_setup
  absl::Status memory;      // write to another process of ours
};
DoctorTrials TryEverything();

struct Finding {
  enum class Level { kFine, kNote, kObstacle };
  Level level = Level::kFine;
  std::string subject;  // "/dev/fuse"
  std::string what;     // what is the case
  std::string cure;     // empty: nothing to do
};

// One finding for each subject, obstacles included.
std::vector<Finding> Diagnose(const DoctorFacts& facts,
                              const DoctorTrials& trials);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_DOCTOR_DOCTOR_H_
