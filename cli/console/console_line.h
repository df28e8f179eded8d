// The parser of the lines of ibsim's console.
#ifndef IBEMU_CLI_CONSOLE_CONSOLE_LINE_H_
#define IBEMU_CLI_CONSOLE_CONSOLE_LINE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace ibemu::cli {

// The commands of ibsim's console.  All are known, even those that do nothing
// here (Start, Verbose) or fail (X), so that scripts written for ibsim run.
enum class Verb {
  kNothing,  // an empty line or a comment
  kFile,     // !FILE
  kAttached,
  kBaselid,
  kClear,
  kDisconnect,  // X
  kDump,
  kError,
  kGuid,
  kHelp,
  kLink,
  kPerformanceSet,
  kQuit,
  kRelink,
  kRoute,
  kStart,
  kUnlink,
  kVerbose,
  kWait,
};

// A ConsoleLine is one command with its arguments, as typed.  Whether its nodes
// and ports are there, only the daemon knows.
struct ConsoleLine {
  // "NODE"[PORT] or "NODE[PORT]"
  struct Place {
    std::string node;
    std::optional<int> port;

    bool operator==(const Place&) const = default;
  };

  Verb verb = Verb::kNothing;
  std::vector<Place> places;
  std::vector<std::string> words;  // the rest; for kFile, the file's name
};

// Parses a line.  The letter case of the command does not matter.  Places and
// words that the command needs are in the result.
//
// Errors: InvalidArgument, with the syntax of the command.
absl::StatusOr<ConsoleLine> ParseConsoleLine(std::string_view text);

// Returns the help text: all commands, a line each.
std::string ConsoleHelp();

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_CONSOLE_CONSOLE_LINE_H_
