#include "cli/lab/lab_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "launch/child.h"

namespace ibemu::cli {
namespace {

constexpr size_t kLongestLine = 64 << 10;

struct Ends {
  UniqueFd reader, writer;
};

absl::StatusOr<Ends> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe2");
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Ends{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// In the child: what a program finds when a shell starts it.
void BecomeProgram(const Ends& out, const Ends& err) {
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  dup2(null.get(), STDIN_FILENO);
  dup2(out.writer.get(), STDOUT_FILENO);
  dup2(err.writer.get(), STDERR_FILENO);
}

[[noreturn]] void RunProgram(const LabProgram& program,
                             const std::string& fabric) {
  for (const auto& [name, value] : program.environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<std::string> words = program.arguments;
  words.insert(words.begin() + 1, "--fabric=" + fabric);
  std::vector<char*> arguments = {const_cast<char*>("ibemu")};
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv("/proc/self/exe", arguments.data());
  perror("ibemu up: /proc/self/exe");
  _exit(launch::kRunFailed);
}

}  // namespace

absl::StatusOr<LabProcess> LabProcess::Start(const LabProgram& program,
                                             const std::string& fabric) {
  IBEMU_ASSIGN_OR_RETURN(Ends out, MakePipe());
  IBEMU_ASSIGN_OR_RETURN(Ends err, MakePipe());
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "fork");
  if (pid == 0) {
    BecomeProgram(out, err);
    RunProgram(program, fabric);
  }
  setpgid(pid, pid);  // whichever of the two comes first
  return LabProcess(pid, std::move(out.reader), std::move(err.reader));
}

void LabProcess::Read(OnLine on_line) {
  for (const LabStream stream : kLabStreams) Read(stream, on_line);
}

void LabProcess::Flush(OnLine on_line) {
  for (const LabStream stream : kLabStreams) Flush(stream, on_line);
}

void LabProcess::Read(LabStream stream, OnLine on_line) {
  Pipe& pipe = pipes_[size_t(stream)];
  char buffer[16 << 10];
  while (pipe.fd.valid()) {
    const ssize_t size = read(pipe.fd.get(), buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) {
      pipe.fd.Reset();
      Flush(stream, on_line);
      return;
    }
    pipe.text.append(buffer, static_cast<size_t>(size));
    size_t begin = 0;
    for (size_t end; (end = pipe.text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      on_line(stream, std::string_view(pipe.text).substr(begin, end - begin));
    }
    pipe.text.erase(0, begin);
    if (pipe.text.size() > kLongestLine) Flush(stream, on_line);
  }
}

void LabProcess::Flush(LabStream stream, OnLine on_line) {
  Pipe& pipe = pipes_[size_t(stream)];
  if (pipe.text.empty()) return;
  on_line(stream, pipe.text);
  pipe.text.clear();
}

void LabProcess::Terminate() const { kill(-pid_, SIGTERM); }

void LabProcess::Kill() const { kill(-pid_, SIGKILL); }

}  // namespace ibemu::cli
