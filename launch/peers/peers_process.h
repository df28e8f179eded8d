// ibemu-peers, the program that speaks to other machines, beside a daemon.
#ifndef IBEMU_LAUNCH_PEERS_PEERS_PROCESS_H_
#define IBEMU_LAUNCH_PEERS_PEERS_PROCESS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "launch/own_process.h"

namespace ibemu::launch {

// A PeersProcess is an ibemu-peers that serves this process, and ends with it.
class PeersProcess {
 public:
  // The start of one with `arguments` and --line=FD behind them.
  //
  // Errors: those of OwnProcess.
  static absl::StatusOr<PeersProcess> Start(std::vector<std::string> arguments);

  // Waits until it has read its certificates, and listens if it is to.  Returns
  // where, else "".
  //
  // Errors: FailedPrecondition with what it says.
  absl::StatusOr<std::string> AwaitReady() const;

  // Readable when it is ready, and then when it has ended.
  int line() const { return process_.line().get(); }

 private:
  explicit PeersProcess(OwnProcess process) : process_(std::move(process)) {}

  OwnProcess process_;  // has given its address back when it has ended
};

// The beginning of the process's first line when all is well; any other line is
// an error.
inline constexpr char kPeersReady[] = "ready ";

// Returns the first line that comes, or all that does.
std::string ReadPeersLine(int fd);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_PEERS_PEERS_PROCESS_H_
