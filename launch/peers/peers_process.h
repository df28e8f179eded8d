// ibemu-peers, the program that speaks to other machines, beside a daemon.
#ifndef IBEMU_LAUNCH_PEERS_PEERS_PROCESS_H_
#define IBEMU_LAUNCH_PEERS_PEERS_PROCESS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::launch {

// The path of ibemu-peers: that of the build tree of this program, or the
// installed one.
std::string PeersProgram();

// A PeersProcess is an ibemu-peers that serves this process, and ends with it.
class PeersProcess {
 public:
  // Starts it with `arguments`.  It gets one end of a socket pair, the line, as
  // the descriptor that its last argument, --line=FD, names.
  //
  // Errors: those of the system calls, also if it can't be executed.
  static absl::StatusOr<PeersProcess> Start(std::vector<std::string> arguments);

  // Waits until it has read its certificates, and listens if it is to.  Returns
  // where, else "".
  //
  // Errors: FailedPrecondition with what it says.
  absl::StatusOr<std::string> AwaitReady() const;

  // Readable when it is ready, and then when it has ended.
  int line() const { return line_.get(); }

  // Waits until it has ended, and given its address back.
  ~PeersProcess();
  PeersProcess(PeersProcess&&) = default;
  PeersProcess& operator=(PeersProcess&&) = default;

 private:
  PeersProcess(UniqueFd line, UniqueFd process)
      : line_(std::move(line)), process_(std::move(process)) {}

  UniqueFd line_, process_;
};

// The beginning of the process's first line when all is well; any other line is
// an error.
inline constexpr char kPeersReady[] = "ready ";

// Returns the first line that comes, or all that does.
std::string ReadPeersLine(int fd);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_PEERS_PEERS_PROCESS_H_
