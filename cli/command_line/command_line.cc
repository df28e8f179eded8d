#include "cli/command_line/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "base/standard_output.h"

namespace ibemu::cli {
namespace {

CLI::App& Deepest(CLI::App& app) {
  for (CLI::App* used : app.get_subcommands()) return Deepest(*used);
  return app;
}

std::string FullName(const CLI::App& app) {
  if (app.get_parent() == nullptr) return app.get_name();
  return absl::StrCat(FullName(*app.get_parent()), " ", app.get_name());
}

std::string UnknownOption(const CLI::App& app, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // for programs of ours alone
    for (const std::string& text : option->get_lnames()) {
      known.push_back("--" + text);
    }
  }
  DidYouMean guess(name);
  for (const std::string& candidate : known) guess.Offer(candidate);
  return absl::StrCat("there is no option \"", name, "\"", guess.Question());
}

std::string UnknownCommand(const CLI::App& app, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) {
    known.push_back(command->get_name());
  }
  DidYouMean guess(name);
  for (const std::string& candidate : known) guess.Offer(candidate);
  std::string answer = guess.Question();
  // Few are told, whatever was meant.
  if (answer.empty() && app.get_parent() != nullptr) {
    answer = absl::StrCat(": there are ", absl::StrJoin(known, ", "));
  }
  return absl::StrCat("there is no command \"", name, "\"", answer);
}

std::string MissingCommand(const CLI::App& app) {
  if (app.get_parent() == nullptr) return "a command is missing";
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) {
    known.push_back(command->get_name());
  }
  return absl::StrCat("a command is missing: there are ",
                      absl::StrJoin(known, ", "));
}

bool TakesCommand(const CLI::App& app) {
  return !app.get_subcommands({}).empty();
}

// Returns what is wrong with an option that stands before the command `used`.
std::string EarlyOption(const CLI::App& used, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  if (used.get_option_no_throw(name) == nullptr) {
    return UnknownOption(used, argument);
  }
  return absl::StrCat("\"", argument,
                      "\" stands before the command, where it has no effect: "
                      "write \"",
                      FullName(used), " ", argument, "\"");
}

// Returns what is wrong with the words that follow `app`, the last command on
// the line; empty if all of them were understood.
std::string MistakeBehind(CLI::App& app) {
  // Another program understands them all, its options included.
  if (app.get_prefix_command() && app.get_options().empty()) return "";
  const std::vector<std::string> rest = app.remaining();
  if (!rest.empty() && rest.front().starts_with("-")) {
    return UnknownOption(app, rest.front());
  }
  if (TakesCommand(app)) {
    return rest.empty() ? MissingCommand(app)
                        : UnknownCommand(app, rest.front());
  }
  if (!rest.empty() && !app.get_prefix_command()) {
    return absl::StrCat("\"", rest.front(), "\" is one argument too many");
  }
  return "";
}

// Returns what is wrong with the command line; empty if all of it was
// understood.
std::string Mistake(CLI::App& app) {
  CLI::App& used = Deepest(app);
  for (CLI::App* above = used.get_parent(); above != nullptr;
       above = above->get_parent()) {
    const std::vector<std::string> rest = above->remaining();
    if (rest.empty()) continue;
    return rest.front().starts_with("-") ? EarlyOption(used, rest.front())
                                         : UnknownCommand(*above, rest.front());
  }
  return MistakeBehind(used);
}

int Explain(const CLI::App& app, std::string_view mistake) {
  const std::string name = FullName(app);
  std::fprintf(stderr, "%s: %s (see \"%s --help\")\n", name.c_str(),
               std::string(mistake).c_str(), name.c_str());
  return kUsageError;
}

}  // namespace

void SetHelp(CLI::App& app, const char* text) {
  app.formatter_fn([text](const CLI::App*, const std::string&,
                          CLI::AppFormatMode) { return std::string(text); });
  app.set_help_flag("-h,--help");
  app.allow_extras();  // Mistake() explains them better than CLI11
  // The words after a command belong to it, even if one of them is the name of
  // another command.
  app.require_subcommand(0, 1);
}

std::optional<int> Parse(CLI::App& app, std::vector<std::string> arguments) {
  if (!arguments.empty() &&
      (arguments.front() == "run" || arguments.front() == "ssh")) {
    std::replace(arguments.begin(), arguments.end(), std::string("--"),
                 std::string(kCommandFollows));
  }
  arguments = {arguments.rbegin(),
               arguments.rend()};  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::Success& success) {
    std::ostringstream text;
    const int status = app.exit(success, text, std::cerr);
    Print(text.str());
    return status;
  } catch (const CLI::ParseError& error) {
    const std::string mistake = Mistake(app);
    return Explain(Deepest(app), mistake.empty() ? error.what() : mistake);
  }
  const std::string mistake = Mistake(app);
  if (!mistake.empty()) return Explain(Deepest(app), mistake);
  return std::nullopt;
}

int Fail(std::string_view name, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", std::string(name).c_str(),
               std::string(status.message()).c_str());
  return 1;
}

void OnUse(CLI::App& command, Action& action, std::string name,
           std::function<absl::Status()> act) {
  command.callback([&action, name = std::move(name), act = std::move(act)] {
    action = [name, act] {
      const absl::Status status = act();
      return status.ok() ? 0 : Fail("ibemu " + name, status);
    };
  });
}

}  // namespace ibemu::cli
