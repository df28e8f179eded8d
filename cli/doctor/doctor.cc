#include "cli/doctor/doctor.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/absl_text.h"
#include "cli/profile/profile_choice.h"
#include "launch/network/outside_program.h"
#include "sysfs/profile.h"

namespace ibemu::cli {
namespace {

using Level = Finding::Level;

constexpr uint64_t kFewOpenFiles = 256;

Finding Fine(std::string subject, std::string what) {
  return {Level::kFine, std::move(subject), std::move(what), ""};
}

// Splits a message of the form "fact: cure", as all messages of the launcher
// are.
Finding Obstacle(std::string subject, const absl::Status& status) {
  const std::string message(status.message());
  const size_t colon = message.find(": ");
  if (colon == std::string::npos) {
    return {Level::kObstacle, std::move(subject), message, ""};
  }
  return {Level::kObstacle, std::move(subject), message.substr(0, colon),
          message.substr(colon + 2)};
}

Finding Fuse(const DoctorFacts& facts, const DoctorTrials& trials) {
  const std::string subject = "/dev/fuse";
  if (!facts.has_fuse_device) {
    return {Level::kObstacle, subject, "/dev/fuse is missing",
            "load it with \"modprobe fuse\" (as root); a container needs "
            "\"--device /dev/fuse\""};
  }
  if (trials.fuse.ok()) return Fine(subject, "can be opened and mounted");
  // Nothing can be mounted without namespaces, which have a finding of their
  // own.
  if (!trials.namespaces.ok()) {
    return {Level::kNote, subject, "is there, but could not be tried", ""};
  }
  return Obstacle(subject, trials.fuse);
}

Finding Namespaces(const DoctorFacts& facts, const DoctorTrials& trials) {
  const std::string subject = "namespaces";
  if (!trials.namespaces.ok()) return Obstacle(subject, trials.namespaces);
  if (facts.uid == 0) return Fine(subject, "root makes mount namespaces");
  return Fine(subject, "a plain user may make user and mount namespaces");
}

Finding Overlay(const DoctorTrials& trials) {
  const std::string subject = "overlay";
  if (trials.overlay.ok()) return Fine(subject, "can be mounted on /sys/class");
  if (!trials.namespaces.ok()) {
    return {Level::kNote, subject, "could not be tried", ""};
  }
  return Obstacle(subject, trials.overlay);
}

Finding Uring(const DoctorFacts& facts, const DoctorTrials& trials) {
  const std::string subject = "io_uring";
  if (trials.uring.ok()) return Fine(subject, "is allowed");
  const std::string cure =
      facts.io_uring_disabled > 0
          ? "for more speed, \"sysctl kernel.io_uring_disabled=0\" (as root)"
          : "for more speed, allow it in the container's seccomp profile";
  return {Level::kNote, subject, "is forbidden; epoll is used instead", cure};
}

Finding Memory(const DoctorFacts& facts, const DoctorTrials& trials) {
  const std::string subject = "ptrace";
  if (trials.memory.ok()) {
    return Fine(subject, "replies may be written into programs' memory");
  }
  constexpr int kNobody = 3;  // and it can't be lowered any more
  const std::string cure =
      facts.ptrace_scope >= kNobody
          ? "start the machine with kernel.yama.ptrace_scope below 3"
      : facts.ptrace_scope > 0
          ? "\"sysctl kernel.yama.ptrace_scope=0\" (as root)"
          : "a container needs \"--cap-add SYS_PTRACE\"";
  return {Level::kNote, subject,
          "programs' memory is out of reach: verbs can't be used, and a read() "
          "into a too small buffer fails with EIO instead of ENOSPC",
          cure};
}

Finding Network(const DoctorFacts& facts, const DoctorTrials& trials) {
  const std::string subject = "network";
  if (trials.network.ok()) {
    std::vector<std::string> ways;
    for (const std::string& name : facts.outside_programs) {
      const launch::OutsideProgram* const program =
          launch::FindOutsideProgram(name);
      if (facts.uid != 0 || program->joins_roots) ways.push_back(name);
    }
    return Fine(
        subject,
        absl::StrCat("\"ibemu run --net\" can make an ib0; --outside: ",
                     !ways.empty() ? absl::StrJoin(ways, ", ")
                     : facts.uid == 0
                         ? "slirp4netns is not installed"
                         : "neither pasta nor slirp4netns is installed"));
  }
  if (!trials.namespaces.ok()) {
    return {Level::kNote, subject, "could not be tried", ""};
  }
  Finding finding = Obstacle(subject, trials.network);
  finding.level = Level::kNote;  // all else works
  return finding;
}

Finding Verbs(const DoctorFacts& facts) {
  const std::string subject = "verbs";
  const ProfileChoice choice = ChooseProfile(facts.providers);
  const std::string what =
      absl::StrCat(choice.reason, ": adapters look like \"",
                   Absl(sysfs::ProfileName(choice.profile)), "\"");
  if (!choice.provider.empty()) return Fine(subject, what);
  return {Level::kNote, subject,
          absl::StrCat(what, ", and programs that use verbs find none"),
          "install Debian's ibverbs-providers, or what brings hfi1verbs "
          "elsewhere"};
}

Finding RealDevices(const DoctorFacts& facts) {
  const std::string subject = "real adapters";
  if (facts.rdma_devices.empty()) return Fine(subject, "none");
  return {Level::kNote, subject,
          absl::StrCat(absl::StrJoin(facts.rdma_devices, ", "),
                       " will be hidden from what \"ibemu run\" runs"),
          ""};
}

Finding Container(const DoctorFacts& facts) {
  const std::string subject = "container";
  if (facts.container.empty() && facts.seccomp_mode == 0) {
    return Fine(subject, "none");
  }
  std::string what = facts.container.empty() ? "no container" : facts.container;
  if (facts.seccomp_mode != 0) {
    absl::StrAppend(&what, ", a seccomp filter is in force");
  }
  return {Level::kNote, subject, what,
          "ibemud and \"ibemu run\" must be in the same one"};
}

Finding OpenFiles(const DoctorFacts& facts) {
  const std::string subject = "open files";
  std::string what = absl::StrCat("up to ", facts.open_files);
  if (facts.open_files >= kFewOpenFiles) return Fine(subject, what);
  return {Level::kNote, subject, what + ": few hosts can be attached",
          "\"ulimit -n 1024\""};
}

}  // namespace

std::vector<Finding> Diagnose(const DoctorFacts& facts,
                              const DoctorTrials& trials) {
  return {Fuse(facts, trials),   Namespaces(facts, trials),
          Overlay(trials),       Uring(facts, trials),
          Memory(facts, trials), Network(facts, trials),
          Verbs(facts),          RealDevices(facts),
          Container(facts),      OpenFiles(facts)};
}

}  // namespace ibemu::cli
