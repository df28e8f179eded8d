#include "cli/commands/program_commands.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "launch/own_program.h"

namespace ibemu::cli {
namespace {

// Makes this process `program`, one of ours, which is told that it is
// "ibemu".  Returns only when it fails.
absl::Status Become(const char* program, std::vector<std::string> arguments) {
  const std::string path = launch::HelperProgram(program);
  std::string own_name = "ibemu";
  std::vector<char*> words = {own_name.data()};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  execv(path.c_str(), words.data());
  return absl::ErrnoToStatus(errno, path);
}

// Its own --help is the program's.
CLI::App& AddHandedOn(CLI::App& app, const char* name) {
  CLI::App& command = *app.add_subcommand(name);
  command.set_help_flag();
  command.prefix_command();
  return command;
}

}  // namespace

void AddProgramCommands(CLI::App& app, Action& action) {
  for (const char* const name : {"certs", "listen"}) {
    CLI::App& command = AddHandedOn(app, name);
    OnUse(command, action, name, [&command, name] {
      std::vector<std::string> arguments = command.remaining();
      arguments.insert(arguments.begin(), name);
      return Become("ibemu-peers", std::move(arguments));
    });
  }
  CLI::App& plugin = AddHandedOn(app, "device-plugin");
  OnUse(plugin, action, "device-plugin", [&plugin] {
    return Become("ibemu-device-plugin", plugin.remaining());
  });
}

}  // namespace ibemu::cli
