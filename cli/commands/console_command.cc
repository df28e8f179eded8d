#include "cli/commands/console_command.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <iostream>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "cli/console/console.h"
#include "control/client.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr char kConsoleHelp[] =
    R"(Usage: ibemu console [OPTION]...
Read ibsim's commands from standard input and carry them out, a line each, so
that scripts for ibsim run.  "Help" lists them.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")

What can't be done is told in a comment ("# ..."), the next line goes on, and
the exit status is 1 in the end.

Example:
  printf 'Unlink "S-0001"[3]\nWait 2\nReLink "S-0001"[3]\n' | ibemu console
)";

struct ConsoleFlags {
  std::string fabric;
};

// The buffer of a stream that prints.
class PrintBuffer : public std::streambuf {
 protected:
  int_type overflow(int_type c) override {
    const char text = traits_type::to_char_type(c);
    Print(std::string_view(&text, 1));
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    Print(std::string_view(text, static_cast<size_t>(size)));
    return size;
  }
};

absl::Status RunConsole(const ConsoleFlags& flags) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  PrintBuffer buffer;
  std::ostream output(&buffer);
  Console console(
      [&](const char* method, const json& parameters) {
        return client.Call(method, parameters);
      },
      [](absl::Duration time) {
        PrintNow("");
        absl::SleepFor(time);
      },
      output);
  const bool people = isatty(STDIN_FILENO) == 1;
  std::string line;
  do {
    // The answer to a line is written before the next one is read: a person or
    // a program may wait for it.
    if (!PrintNow(people ? "sim> " : "")) break;
    if (!std::getline(std::cin, line)) break;
  } while (console.Do(line));
  if (console.failures() == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%d of the commands could not be carried out", console.failures()));
}

}  // namespace

void AddConsole(CLI::App& app, Action& action) {
  CLI::App* console = app.add_subcommand("console");
  SetHelp(*console, kConsoleHelp);
  const auto flags = std::make_shared<ConsoleFlags>();
  console->add_option("--fabric", flags->fabric);
  OnUse(*console, action, "console", [flags] { return RunConsole(*flags); });
}

}  // namespace ibemu::cli
