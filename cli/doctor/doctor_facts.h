// The facts about a machine that its files tell.
#ifndef IBEMU_CLI_DOCTOR_DOCTOR_FACTS_H_
#define IBEMU_CLI_DOCTOR_DOCTOR_FACTS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/profile/provider_files.h"

namespace ibemu::cli {

// Facts that are read from the machine's files.
struct DoctorFacts {
  bool has_fuse_device = false;  // /dev/fuse exists, of any kind
  int io_uring_disabled = 0;     // kernel.io_uring_disabled: 0, 1, 2
  int ptrace_scope = 0;          // of Yama
  int seccomp_mode = 0;          // from /proc/self/status
  std::string container;         // "Docker", ...; empty if none is seen
  std::vector<std::string> rdma_devices;      // in /sys/class/infiniband
  ProviderFiles providers;                    // of libibverbs
  std::vector<std::string> outside_programs;  // for --outside, installed
  uint64_t open_files = 0;                    // the soft RLIMIT_NOFILE
  uid_t uid = 0;
};

// Reads the facts.  `root` is the root directory; tests have one of their own.
DoctorFacts ReadDoctorFacts(const std::string& root);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_DOCTOR_DOCTOR_FACTS_H_
