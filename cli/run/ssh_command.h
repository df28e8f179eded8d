// The command line of `ibemu ssh`: a command on another host, as by ssh.
#ifndef IBEMU_CLI_RUN_SSH_COMMAND_H_
#define IBEMU_CLI_RUN_SSH_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/command_line/command_line.h"
#include "cli/run/run.h"

namespace ibemu::cli {

// The name by which `ibemu` is called as `ibemu ssh`, for what wants the path
// of a program: a link beside it.
inline constexpr char kSshProgram[] = "ibemu-ssh";

// Returns the run that is meant by `words`, "[USER@]NODE [--] [COMMAND...]":
// its fabric is a running one.  `user`: who calls, for there is nobody else on
// a host; `shell`: that user's, which runs without a COMMAND.
//
// Errors: InvalidArgument.
absl::StatusOr<RunOptions> RunOfSsh(std::vector<std::string> words,
                                    const std::string& user,
                                    const std::string& shell);

// Adds the command to `app`; using it sets `action`.
void AddSsh(CLI::App& app, Action& action);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_RUN_SSH_COMMAND_H_
