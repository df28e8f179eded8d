// Explanation: why work requests failed while a command ran.
#ifndef IBEMU_CLI_RUN_EXPLANATION_H_
#define IBEMU_CLI_RUN_EXPLANATION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace ibemu::cli {

// An Explanation asks the daemon, once the command has ended, what failed since
// it was started (`ibemu run --explain`).
class Explanation {
 public:
  // How many failures are told of; the others are counted.
  static constexpr size_t kMost = 10;

  // `socket` is the daemon's, `hosts` are names or GUIDs of the command's.
  //
  // Errors: those of the socket; of a daemon that drives real adapters, that it
  // has no such method.
  static absl::StatusOr<Explanation> Begin(const std::string& socket,
                                           std::vector<std::string> hosts);

  // Returns a line for each queue pair of the hosts in which a work request has
  // failed since Begin(); empty if there is none, or if the daemon has ended.
  std::string Text() const;

 private:
  Explanation(std::string socket, std::vector<std::string> hosts)
      : socket_(std::move(socket)), hosts_(std::move(hosts)) {}

  std::string socket_;
  std::vector<std::string> hosts_;
  int64_t begin_ns_ = 0;  // on the daemon's clock
};

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_RUN_EXPLANATION_H_
