#include "launch/descendants.h"

#include <dirent.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ibemu::launch {
namespace {

// Fields of /proc/PID/stat, counted from the one behind the name (proc(5)).
constexpr size_t kState = 0, kParent = 1, kThreads = 17;

}  // namespace

std::vector<Process> RunningProcesses() {
  std::vector<Process> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), &closedir);
  if (proc == nullptr) return processes;
  while (const dirent* const entry = readdir(proc.get())) {
    Process process;
    if (!absl::SimpleAtoi(entry->d_name, &process.pid)) continue;
    std::ifstream file(absl::StrCat("/proc/", process.pid, "/stat"));
    std::string line;
    std::getline(file, line);
    // A name may hold anything: what follows begins at its last parenthesis.
    const size_t name_end = line.rfind(") ");
    if (name_end == line.npos) continue;
    const std::vector<std::string> fields =
        absl::StrSplit(line.substr(name_end + 2), ' ');
    int threads = 0;
    if (fields.size() <= kThreads ||
        !absl::SimpleAtoi(fields[kParent], &process.parent) ||
        !absl::SimpleAtoi(fields[kThreads], &threads)) {
      continue;
    }
    // Of a process whose first thread has ended, others may run.
    const std::string& state = fields[kState];
    const bool ended = state == "X" || (state == "Z" && threads <= 1);
    if (!ended) processes.push_back(process);
  }
  return processes;
}

std::set<pid_t> OwnChildren() {
  std::set<pid_t> children;
  if (std::ifstream file("/proc/thread-self/children"); file) {
    for (pid_t pid = 0; file >> pid;) children.insert(pid);
    return children;
  }
  // A kernel without CONFIG_PROC_CHILDREN.
  for (const Process& process : RunningProcesses()) {
    if (process.parent == getpid()) children.insert(process.pid);
  }
  return children;
}

std::set<pid_t> DescendantsOf(pid_t ancestor,
                              const std::vector<Process>& processes,
                              const std::set<pid_t>& except) {
  std::set<pid_t> found;
  bool grown = true;
  while (grown) {
    grown = false;
    for (const Process& process : processes) {
      if ((process.parent == ancestor || found.contains(process.parent)) &&
          process.pid != ancestor && !except.contains(process.pid)) {
        grown |= found.insert(process.pid).second;
      }
    }
  }
  return found;
}

void ForEachProcess(absl::FunctionRef<std::set<pid_t>()> list,
                    absl::FunctionRef<void(pid_t)> visit) {
  constexpr int kMaxRounds = 100;
  std::set<pid_t> visited;
  for (int round = 0; round < kMaxRounds; ++round) {
    const size_t before = visited.size();
    for (const pid_t pid : list()) {
      if (visited.insert(pid).second) visit(pid);
    }
    if (visited.size() == before) return;
  }
}

}  // namespace ibemu::launch
