#include "cli/hca_model/hca_model_run.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "cli/hca_model/hca_model_machine.h"
#include "cli/run/private_daemon.h"
#include "cli/run/run.h"
#include "control/client.h"
#include "daemon/remote_node/node_link_pump.h"
#include "daemon/remote_node/remote_cable.h"
#include "hca/model/mlx4/core/command_trace.h"
#include "hca/model/mlx4/firmware/connectx3_model.h"
#include "launch/child.h"
#include "launch/standard_streams.h"
#include "loop/loop.h"

namespace ibemu::cli {
namespace {

constexpr size_t kMlx4MostPorts = 2;

// The content of the error buffer when a user asks for an internal error.
constexpr uint32_t kInjectedError = 0xdead;

// The connection to the daemon of whose fabric the adapter is a node.
struct HcaModelUplink {
  std::optional<PrivateDaemon> daemon;  // outlives the connection
  std::optional<control::Client> client;
};

absl::StatusOr<HcaModelUplink> FindFabric(const HcaModelOptions& options) {
  HcaModelUplink uplink;
  const char* const outer = std::getenv("IBEMU_FABRIC");
  const bool wants_private = options.topology || options.sm || options.seed;
  if (options.fabric ||
      (outer != nullptr && *outer != '\0' && !wants_private)) {
    IBEMU_ASSIGN_OR_RETURN(
        uplink.client, control::Client::Connect(options.fabric.value_or("")));
    return uplink;
  }
  daemon::DaemonOptions daemon;
  if (options.topology) daemon.topology = *options.topology;
  if (options.sm) daemon.sm = *options.sm;
  daemon.seed = options.seed;
  UniqueFd connection;
  IBEMU_ASSIGN_OR_RETURN(uplink.daemon,
                         PrivateDaemon::Start(daemon, connection));
  IBEMU_ASSIGN_OR_RETURN(uplink.client,
                         control::Client::Adopt(connection.Release()));
  return uplink;
}

void PrintStatistics(const HcaModelMachine& machine,
                     const hca::model::ConnectX3Model& device) {
  const auto& link = machine.link().counters();
  const auto& guest = machine.guest().counters();
  std::fprintf(stderr,
               "ibemu-hca-model: config %" PRIu64 " bar %" PRIu64
               " stray %" PRIu64 " resets %" PRIu64 " interrupts %" PRIu64
               " faults %" PRIu64 "\n",
               link.config_accesses, link.bar_accesses, link.stray_accesses,
               link.resets, guest.interrupts, guest.faults);
  for (const auto& [sort, use] : device.ended_queues()) {
    std::fprintf(stderr,
                 "ibemu-hca-model: %s size %" PRIu32 " queues %" PRIu64
                 " least %" PRIu64 " most %" PRIu64 "\n",
                 std::string(QueueKindName(sort.kind)).c_str(), sort.size,
                 use.queues, use.least, use.most);
  }
}

// Prints the number of mistakes of the guest's driver.
void PrintVerdict(const hca::model::ConnectX3Model& device) {
  std::fprintf(stderr, "ibemu-hca-model: violations %d refused commands %d\n",
               device.violations(), device.refusals());
}

// A TraceFile is the file of --trace.  A line is in the file as soon as it is
// written.
class TraceFile {
 public:
  static absl::StatusOr<TraceFile> Create(const std::string& name) {
    File file(std::fopen(name.c_str(), "we"));
    if (!file) return absl::ErrnoToStatus(errno, name);
    setvbuf(file.get(), nullptr, _IOLBF, BUFSIZ);
    return TraceFile(name, std::move(file));
  }
  void WriteLine(std::string_view text) {
    Check(std::fprintf(file_.get(), "%.*s\n", static_cast<int>(text.size()),
                       text.data()) >= 0);
  }
  // Closes the file, after the last line.
  //
  // Errors: also those of writing any of the lines.
  absl::Status Finish() {
    Check(std::fclose(file_.release()) == 0);
    return error_ == 0 ? absl::OkStatus() : absl::ErrnoToStatus(error_, name_);
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;
  TraceFile(std::string name, File file)
      : name_(std::move(name)), file_(std::move(file)) {}

  void Check(bool written) {
    if (!written && error_ == 0) error_ = errno;
  }

  std::string name_;
  File file_;
  int error_ = 0;  // the first
};

// Returns QEMU's wait status.
absl::StatusOr<int> RunHcaModelMachine(const HcaModelOptions& options,
                                       control::Client client) {
  // The signals come before the threads of the loop, which inherit the mask.
  const launch::LauncherSignals signals;
  IBEMU_ASSIGN_OR_RETURN(const std::unique_ptr<Loop> loop, MakeLoop());
  IBEMU_ASSIGN_OR_RETURN(
      const std::unique_ptr<daemon::RemoteCables> cables,
      daemon::RemoteCables::Plug(std::move(client), options.host));
  std::vector<hca::model::Cable*> ports;
  for (int port = 1; port <= cables->port_count(); ++port) {
    ports.push_back(&cables->cable(port));
  }
  if (ports.size() > kMlx4MostPorts) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.host, " has ", ports.size(),
                     " ports: a ConnectX-3 has ", kMlx4MostPorts, " at most"));
  }
  hca::model::ConnectX3Model device(*loop, ports);
  std::optional<TraceFile> trace;
  hca::model::CommandTrace commands(
      [&trace](std::string_view text) { trace->WriteLine(text); });
  if (options.trace) {
    IBEMU_ASSIGN_OR_RETURN(trace, TraceFile::Create(*options.trace));
    device.AddObserver(commands);
  }
  daemon::NodeLinkPump pump(*loop, *cables, [] {
    std::fputs("ibemu-hca-model: the daemon has ended, and the link is down\n",
               stderr);
  });
  IBEMU_RETURN_IF_ERROR(pump.Start());
  IBEMU_ASSIGN_OR_RETURN(
      const std::unique_ptr<HcaModelMachine> machine,
      HcaModelMachine::Start(*loop, signals, device, options.qemu));
  machine->OnTrouble([](const absl::Status& status) {
    std::fprintf(stderr,
                 "ibemu-hca-model: %s: the guest may wait for its adapter in "
                 "vain\n",
                 std::string(status.message()).c_str());
  });
  machine->OnUserSignal([&device] { device.Fail(kInjectedError); });
  const int wait_status = machine->Run();
  IBEMU_RETURN_IF_ERROR(machine->status());
  device.Reset();  // ends the device's queues
  if (options.statistics) {
    PrintStatistics(*machine, device);
    PrintVerdict(device);
  }
  if (trace) IBEMU_RETURN_IF_ERROR(trace->Finish());
  return wait_status;
}

absl::StatusOr<int> FindFabricAndRun(const HcaModelOptions& options) {
  IBEMU_ASSIGN_OR_RETURN(HcaModelUplink uplink, FindFabric(options));
  return RunHcaModelMachine(options, *std::move(uplink.client));
}

}  // namespace

int RunHcaModel(const HcaModelOptions& options) {
  launch::FillStandardStreams();
  const absl::StatusOr<int> wait_status = FindFabricAndRun(options);
  if (wait_status.ok()) return launch::EndLike(*wait_status);
  std::fprintf(stderr, "ibemu-hca-model: %s\n",
               std::string(wait_status.status().message()).c_str());
  return launch::kRunFailed;
}

}  // namespace ibemu::cli
