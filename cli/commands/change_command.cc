#include "cli/commands/change_command.h"

#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "base/status_macros.h"
#include "control/client.h"
#include "daemon/words/change_words.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr char kLinkHelp[] = R"(Usage: ibemu link NODE/PORT up|down [OPTION]...
Cut the cable at a port, or restore it.  Both ends notice.

  --for=TIME      undo it after that time, for instance 10s or 500ms
  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")

Example:
  ibemu link spine-1/3 down --for=10s
)";

constexpr char kNodeHelp[] = R"(Usage: ibemu node NODE up|down [OPTION]...
Switch a node off, or on again.  While it is off all its links are cut.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
)";

constexpr char kDeviceHelp[] =
    R"(Usage: ibemu device NODE remove|add [OPTION]...
Pull a node's adapter out of its host, or plug it in again (hot-plug).  Its
devices vanish from every run that shows the node, open files fail with EIO, and
its links go down.  Plugged in, it is a new device after power-on.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")

Example:
  ibemu device node-7 remove
)";

constexpr char kHostHelp[] = R"(Usage: ibemu host NODE add|remove [OPTION]...
Show a node's devices to the whole machine too, or no more, while an "ibemud
--front-end=cuse" runs.  Programs that have them open find them removed; the
adapter stays on the fabric, its links stay up.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")

Example:
  ibemu host node-9 add
)";

struct ChangeFlags {
  std::string fabric;
  std::string target;
  std::string direction;
  std::string duration;
};

absl::Status Call(const ChangeFlags& flags, const char* method,
                  const absl::StatusOr<json>& parameters) {
  IBEMU_RETURN_IF_ERROR(parameters.status());
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  return client.Call(method, *parameters).status();
}

absl::Status SetLink(const ChangeFlags& flags) {
  return Call(
      flags, "link.set",
      daemon::LinkChange(flags.target, flags.direction, flags.duration));
}

absl::Status SetNode(const ChangeFlags& flags) {
  return Call(flags, "node.set",
              daemon::NodeChange(flags.target, flags.direction));
}

absl::Status SetDevice(const ChangeFlags& flags) {
  return Call(flags, "device.set",
              daemon::PresenceChange(flags.target, flags.direction));
}

absl::Status SetHost(const ChangeFlags& flags) {
  return Call(flags, "host.set",
              daemon::PresenceChange(flags.target, flags.direction));
}

CLI::App* Add(CLI::App& app, Action& action, const char* name, const char* help,
              const std::shared_ptr<ChangeFlags>& flags,
              absl::Status (*change)(const ChangeFlags&)) {
  CLI::App* command = app.add_subcommand(name);
  SetHelp(*command, help);
  command->add_option("--fabric", flags->fabric);
  command->add_option("target", flags->target)->required();
  command->add_option("direction", flags->direction)->required();
  OnUse(*command, action, name, [flags, change] { return change(*flags); });
  return command;
}

}  // namespace

void AddChanges(CLI::App& app, Action& action) {
  const auto link = std::make_shared<ChangeFlags>();
  Add(app, action, "link", kLinkHelp, link, SetLink)
      ->add_option("--for", link->duration);
  Add(app, action, "node", kNodeHelp, std::make_shared<ChangeFlags>(), SetNode);
  Add(app, action, "device", kDeviceHelp, std::make_shared<ChangeFlags>(),
      SetDevice);
  Add(app, action, "host", kHostHelp, std::make_shared<ChangeFlags>(), SetHost);
}

}  // namespace ibemu::cli
