#include "launch/descendants.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ibemu::launch {

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
    char state = 'Z';
    if (name_end == line.npos ||
        std::sscanf(line.c_str() + name_end, ") %c %d", &state,
                    &process.parent) != 2 ||
        state == 'Z' || state == 'X') {
      continue;
    }
    processes.push_back(process);
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

}  // namespace ibemu::launch
