// The parser of command lines that ibemu and ibemud share.
#ifndef IBEMU_CLI_COMMAND_LINE_COMMAND_LINE_H_
#define IBEMU_CLI_COMMAND_LINE_COMMAND_LINE_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace ibemu::cli {

inline constexpr int kUsageError = 2;

// The function that carries a command line out; returns the exit status.
using Action = std::function<int()>;

// Gives `app` its help text, as it stands, in place of CLI11's.
void SetHelp(CLI::App& app, const char* text);

// Stands for a "--" in front of COMMAND.  CLI11 gets it instead, since it would
// take what follows a plain "--" away from the subcommand.
inline constexpr char kCommandFollows[] = "\001--";

// Parses.  Returns an exit status if that was all (help, version, a mistake,
// which is then explained on stderr), nullopt if the program should go on.
std::optional<int> Parse(CLI::App& app, std::vector<std::string> arguments);

// Prints "NAME: MESSAGE" on stderr.  Returns 1.
int Fail(std::string_view name, const absl::Status& status);

// Lets `action` be `act` when `command` is used; its error is told as that of
// "ibemu NAME".
void OnUse(CLI::App& command, Action& action, std::string name,
           std::function<absl::Status()> act);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMAND_LINE_COMMAND_LINE_H_
