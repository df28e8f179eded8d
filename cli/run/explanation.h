// Explanation: the reasons why work requests failed while a command ran, and
// the uses of its queue pairs that may fail on hardware.
#ifndef IBEMU_CLI_RUN_EXPLANATION_H_
#define IBEMU_CLI_RUN_EXPLANATION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "control/client.h"

namespace ibemu::cli {

// An Explanation asks the daemon, once the command has ended, what failed since
// it was started (`ibemu run --explain`), and what of its queue pairs is a
// pitfall (`--lint`).
class Explanation {
 public:
  // How many failures are told of, and pitfalls; the others are counted.
  static constexpr size_t kMax = 10;

  struct Wanted {
    bool failures = false, pitfalls = false;
    bool any() const { return failures || pitfalls; }
  };

  // `socket` is the daemon's, `hosts` are names or GUIDs of the command's.
  //
  // Errors: those of the socket; of a daemon that drives real adapters, that it
  // has no such method.
  static absl::StatusOr<Explanation> Begin(const std::string& socket,
                                           std::vector<std::string> hosts,
                                           Wanted wanted);

  // Returns a line for each queue pair of the hosts in which a work request has
  // failed since Begin(), for each MAD that nobody answered, each call of verbs
  // that was refused and each connection that failed; where there is none and
  // the command failed, for each queue pair that had trouble.  And a line for
  // each pitfall.  Empty if there is nothing, or if the daemon has ended.
  std::string Text(bool command_failed) const;

 private:
  Explanation(std::string socket, std::vector<std::string> hosts, Wanted wanted)
      : wanted_(wanted), socket_(std::move(socket)), hosts_(std::move(hosts)) {}

  std::vector<std::string> Failures(control::Client& client) const;
  std::vector<std::string> Troubles(control::Client& client) const;
  std::vector<std::string> Pitfalls(control::Client& client) const;

  Wanted wanted_;
  std::string socket_;
  std::vector<std::string> hosts_;
  int64_t begin_ns_ = 0;  // on the daemon's clock
};

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_RUN_EXPLANATION_H_
