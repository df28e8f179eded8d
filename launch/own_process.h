// Another program of ours, as a process that serves this one.
#ifndef IBEMU_LAUNCH_OWN_PROCESS_H_
#define IBEMU_LAUNCH_OWN_PROCESS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"

namespace ibemu::launch {

// An OwnProcess is a child process with one end of a socket pair (SOCK_STREAM),
// of which this process has the other one, the line.  The program is to end
// when the line closes.
class OwnProcess {
 public:
  // The start of `arguments`, of which the first is the program's path, with
  // `option` and the number of its end behind them ("--line=5"): in a session
  // of its own, with no signal blocked, with /dev/null as standard input and
  // output, and with our standard error.
  //
  // Errors: errno's of posix_spawn(), with the path, and of other system calls.
  static absl::StatusOr<OwnProcess> Start(std::vector<std::string> arguments,
                                          std::string_view option,
                                          absl::Duration ends_within);

  const UniqueFd& line() const { return line_; }
  // Leaves the line, and when it closes, to the caller.
  UniqueFd TakeLine() { return std::move(line_); }

  // Sends SIGTERM.
  void Interrupt() const;

  // Closes the line, waits until the program has ended, and kills it when it
  // has not after `ends_within`.
  ~OwnProcess();
  OwnProcess(OwnProcess&&) = default;
  OwnProcess& operator=(OwnProcess&&) = default;

 private:
  OwnProcess(UniqueFd line, UniqueFd process, absl::Duration ends_within)
      : line_(std::move(line)),
        process_(std::move(process)),
        ends_within_(ends_within) {}

  UniqueFd line_;
  UniqueFd process_;  // pidfd: safe when the pid is reaped and used again
  absl::Duration ends_within_;
};

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_OWN_PROCESS_H_
