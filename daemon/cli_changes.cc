// ibemu link, node, device, host.
#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "daemon/cli.h"
#include "daemon/client.h"
#include "daemon/port_text.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
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

struct Flags {
  std::string fabric;
  std::string target;
  std::string direction;
  std::string duration;
};

absl::StatusOr<bool> Choose(const std::string& text, std::string_view yes,
                            std::string_view no) {
  if (text == yes) return true;
  if (text == no) return false;
  return absl::InvalidArgumentError(
      absl::StrFormat("\"%s\" is neither \"%s\" nor \"%s\"", text, yes, no));
}

absl::StatusOr<bool> ParseDirection(const std::string& text) {
  return Choose(text, "up", "down");
}

absl::Status SetLink(const Flags& flags) {
  IBEMU_ASSIGN_OR_RETURN(const PortText end, ParsePort(flags.target));
  IBEMU_ASSIGN_OR_RETURN(const bool up, ParseDirection(flags.direction));
  json parameters = {{"node", end.node}, {"port", end.port}, {"up", up}};
  if (!flags.duration.empty()) {
    absl::Duration duration;
    if (!absl::ParseDuration(flags.duration, &duration) ||
        duration < absl::Milliseconds(1)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--for=", flags.duration, ": write a time such as 10s, 500ms or 2m"));
    }
    parameters["for_ms"] = absl::ToInt64Milliseconds(duration);
  }
  IBEMU_ASSIGN_OR_RETURN(Client client, Client::Connect(flags.fabric));
  return client.Call("link.set", parameters).status();
}

absl::Status SetNode(const Flags& flags) {
  IBEMU_ASSIGN_OR_RETURN(const bool up, ParseDirection(flags.direction));
  IBEMU_ASSIGN_OR_RETURN(Client client, Client::Connect(flags.fabric));
  return client.Call("node.set", {{"node", flags.target}, {"up", up}}).status();
}

absl::Status SetPresent(const Flags& flags, const char* method) {
  IBEMU_ASSIGN_OR_RETURN(const bool present,
                         Choose(flags.direction, "add", "remove"));
  IBEMU_ASSIGN_OR_RETURN(Client client, Client::Connect(flags.fabric));
  return client.Call(method, {{"node", flags.target}, {"present", present}})
      .status();
}

absl::Status SetDevice(const Flags& flags) {
  return SetPresent(flags, "device.set");
}

absl::Status SetHost(const Flags& flags) {
  return SetPresent(flags, "host.set");
}

CLI::App* Add(CLI::App& app, Action& action, const char* name, const char* help,
              const std::shared_ptr<Flags>& flags,
              absl::Status (*change)(const Flags&)) {
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
  const auto link = std::make_shared<Flags>();
  Add(app, action, "link", kLinkHelp, link, SetLink)
      ->add_option("--for", link->duration);
  Add(app, action, "node", kNodeHelp, std::make_shared<Flags>(), SetNode);
  Add(app, action, "device", kDeviceHelp, std::make_shared<Flags>(), SetDevice);
  Add(app, action, "host", kHostHelp, std::make_shared<Flags>(), SetHost);
}

}  // namespace ibemu::daemon
