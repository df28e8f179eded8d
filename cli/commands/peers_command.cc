#include "cli/commands/peers_command.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "launch/peers/peers_process.h"

namespace ibemu::cli {
namespace {

// Returns only when it fails.
absl::Status Become(const std::string& command,
                    std::vector<std::string> arguments) {
  const std::string program = launch::PeersProgram();
  std::string own_name = "ibemu", name = command;
  std::vector<char*> words = {own_name.data(), name.data()};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  return absl::ErrnoToStatus(errno, program);
}

}  // namespace

void AddPeers(CLI::App& app, Action& action) {
  for (const char* const name : {"certs", "listen"}) {
    CLI::App* const command = app.add_subcommand(name);
    command->set_help_flag();  // it has its own
    command->prefix_command();
    OnUse(*command, action, name,
          [command, name] { return Become(name, command->remaining()); });
  }
}

}  // namespace ibemu::cli
