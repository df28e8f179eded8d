#include "child.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "umad.h"

namespace umad_abi {
namespace {

void AwaitSleep(pid_t child) {
  const std::string path = "/proc/" + std::to_string(child) + "/stat";
  for (;;) {
    const std::string stat = FirstLine(path);
    const size_t state = stat.rfind(')') + 2;
    if (state >= stat.size() || std::strchr("SZ", stat[state]) != nullptr) {
      return;
    }
    poll(nullptr, 0, 1);
  }
}

}  // namespace

pid_t StartWaiting(const std::function<int()>& act) {
  const pid_t child = fork();
  if (child == 0) _exit(act());
  AwaitSleep(child);
  return child;
}

int ExitStatus(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

void OnSignal(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

}  // namespace umad_abi
