// ibemu-device-plugin: the devices of this machine, for the pods of a node of
// Kubernetes.
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "cli/command_line/command_line.h"
#include "cli/device_plugin/device_plugin.h"
#include "cli/device_plugin/plugin_server.h"
#include "cli/device_plugin/shown_devices.h"
#include "launch/hardening.h"
#include "launch/mount_plan.h"
#include "loop/signals.h"
#include "peers/grpc_log.h"

namespace {

constexpr char kCommand[] = "ibemu device-plugin";

constexpr char kHelp[] =
    R"(Usage: ibemu device-plugin [OPTION]...
Give pods of this Kubernetes node the devices that "ibemud --front-end=cuse" shows
to it: a device plugin, which runs until it is ended.  A pod asks for them by

  resources: {limits: {rdma/ibemu: 1}}

and then has /dev/infiniband and what belongs to it in /sys, without being
privileged.

  --resource=NAME  what pods ask for, DOMAIN/NAME (default: rdma/ibemu)
  --slots=N        how many containers may have them at once; they share them
                   (default: 100)
  --kubelet=DIR    the kubelet's directory (default: /var/lib/kubelet)
)";

constexpr int kMaxSlots = 10000;
// Between two looks at devices and kubelet.
constexpr timespec kPause = {.tv_sec = 1, .tv_nsec = 0};

constexpr std::chrono::seconds kAnswersWithin(2);

using Devices = absl::StatusOr<std::vector<std::string>>;

struct Flags {
  std::string resource = "rdma/ibemu";
  int slots = 100;
  std::string kubelet = "/var/lib/kubelet";
};

// Tells how it stands with one thing, once for each time that this changes.
class Report {
 public:
  void Tell(const absl::Status& status, const std::string& when_fine) {
    std::string text = status.ok() ? when_fine : std::string(status.message());
    if (text == told_) return;
    told_ = std::move(text);
    std::fprintf(stderr, "%s: %s\n", kCommand, told_.c_str());
  }

 private:
  std::string told_;
};

// Until a signal asks for the end.
absl::Status Serve(const Flags& flags) {
  IBEMU_RETURN_IF_ERROR(ibemu::cli::CheckResource(flags.resource));
  // Before gRPC's threads start.
  const sigset_t ends = ibemu::BlockSignals(ibemu::kEndingSignals);
  IBEMU_RETURN_IF_ERROR(ibemu::launch::DropCapabilities(0));
  // Some sandboxes know no seccomp.
  ibemu::launch::ForbidSystemCalls().IgnoreError();
  ibemu::peers::LogNothing();
  ibemu::cli::DevicePlugin plugin(flags.slots);
  std::optional<ibemu::cli::PluginServer> server(
      std::in_place, plugin, absl::StrCat(flags.kubelet, "/device-plugins"),
      flags.resource);
  Report devices, kubelet;
  std::future<Devices> look;
  do {
    // The file system of a daemon that is stopped answers nothing.
    if (!look.valid()) {
      look = std::async(std::launch::async, &ibemu::cli::ShownDevices,
                        ibemu::launch::kSystemMount);
    }
    Devices found = absl::UnavailableError(
        absl::StrCat(ibemu::launch::kSystemMount, ": the daemon is silent"));
    if (look.wait_for(kAnswersWithin) == std::future_status::ready) {
      found = look.get();
    }
    devices.Tell(found.status(), "there are devices");
    plugin.Show(std::move(found));
    kubelet.Tell(server->KeepUp(),
                 absl::StrCat("the kubelet has registered ", flags.resource));
  } while (sigtimedwait(&ends, nullptr, &kPause) < 0);
  server.reset();
  if (look.valid()) _exit(0);  // nobody can wait for it
  return absl::OkStatus();
}

int Main(std::vector<std::string> arguments) {
  Flags flags;
  CLI::App app("", kCommand);
  ibemu::cli::SetHelp(app, kHelp);
  app.set_version_flag("-v,--version",
                       absl::StrCat("ibemu-device-plugin ", ibemu::Version()));
  app.add_option("--resource", flags.resource);
  app.add_option("--slots", flags.slots)->check(CLI::Range(1, kMaxSlots));
  app.add_option("--kubelet", flags.kubelet);
  if (const auto status = ibemu::cli::Parse(app, std::move(arguments))) {
    return *status;
  }
  const absl::Status status = Serve(flags);
  return status.ok() ? 0 : ibemu::cli::Fail(kCommand, status);
}

}  // namespace

// Only bugs and a lack of memory cause exceptions.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  const std::string path = argc > 0 ? argv[0] : "ibemu-device-plugin";
  return ibemu::FinishOutput(path.substr(path.rfind('/') + 1),
                             Main({argv + 1, argv + argc}));
}
