#include "daemon/server.h"

#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "daemon/attachments.h"
#include "daemon/control_server.h"
#include "daemon/control_socket.h"
#include "daemon/fabric_methods.h"
#include "daemon/fault_methods.h"
#include "daemon/hardening.h"
#include "daemon/loop.h"
#include "daemon/mounts.h"
#include "daemon/progress.h"
#include "daemon/socket_path.h"
#include "daemon/system_devices.h"
#include "daemon/system_mounts.h"
#include "daemon/version.h"
#include "fabric/fabric.h"
#include "nlohmann/json.hpp"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

absl::Status CheckSm(const std::string& sm) {
  if (sm == "none" || sm == "static") return absl::OkStatus();
  if (sm == "builtin") {
    return absl::UnimplementedError(
        "--sm=builtin: the built-in subnet manager comes with a later release: "
        "use --sm=static, or --sm=none and opensm");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--sm=", sm, ": there are \"none\" and \"static\"",
                   DidYouMean(sm, {"none", "static"}).Question()));
}

uint64_t ChooseSeed(const DaemonOptions& options) {
  if (options.seed) return *options.seed;
  uint32_t seed = 0;  // short enough to be typed again
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) seed = 1;
  return seed;
}

absl::StatusOr<std::unique_ptr<fabric::Fabric>> LoadFabric(
    const DaemonOptions& options, uint64_t seed, Timers& timers) {
  Progress progress;
  const auto show = [&](std::string_view phase, size_t done, size_t total) {
    progress.Show(phase, done, total);
  };
  IBEMU_ASSIGN_OR_RETURN(const fabric::Topology topology,
                         fabric::LoadTopology(options.topology, show));
  progress.Show("building the fabric", 0, 0);
  auto fabric = std::make_unique<fabric::Fabric>(
      topology, timers, fabric::FabricOptions{.seed = seed});
  if (options.sm == "static") {
    progress.Show("configuring the subnet", 0, 0);
    IBEMU_RETURN_IF_ERROR(fabric::ConfigureStatically(*fabric));
  }
  return fabric;
}

// The fabric, and all that serves it.  Members are destroyed from the last to
// the first: connections before the views they hold, views before the fabric.
class Server {
 public:
  static absl::StatusOr<std::unique_ptr<Server>> Load(
      const DaemonOptions& options) {
    IBEMU_RETURN_IF_ERROR(CheckSm(options.sm));
    IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<Loop> loop, MakeLoop());
    const uint64_t seed = ChooseSeed(options);
    IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<fabric::Fabric> fabric,
                           LoadFabric(options, seed, *loop));
    return std::unique_ptr<Server>(
        new Server(options, seed, std::move(loop), std::move(fabric)));
  }

  ~Server() {
    if (signals_.valid()) loop_->Forget(signals_.get());
  }

  // The signals end Run() from now on, and not the process.
  absl::Status WatchSignals(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals) {
      // A blocked signal reaches a signalfd even if nohup(1) ignores it.
      struct sigaction inherited;
      sigaction(signal, nullptr, &inherited);
      if (inherited.sa_handler != SIG_IGN) sigaddset(&set, signal);
    }
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signals_.Reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    return loop_->Watch(signals_.get(), [this] { loop_->Stop(); });
  }

  // Lets clients in.  `socket` must outlive this.
  absl::Status Open(ControlSocket& socket) {
    socket_ = socket.path();
    IBEMU_RETURN_IF_ERROR(socket.Listen());
    control_ = std::make_unique<ControlServer>(*loop_, dispatcher_, Greeting());
    return control_->Listen(socket.fd());
  }

  // Serves the one client for whom the daemon lives.
  void Adopt(UniqueFd client) {
    control_->Adopt(std::move(client), [this] { loop_->Stop(); });
  }

  // Shows devices to the whole machine.  `shown` is told of the end of it.
  absl::Status ShowSystem(const std::vector<std::string>& hosts, UniqueFd fuse,
                          MountKeeper& keeper,
                          absl::AnyInvocable<void(absl::Status)> shown) {
    IBEMU_RETURN_IF_ERROR(attachments_.AttachSystem(hosts, std::move(fuse)));
    return loop_->Watch(keeper.fd(),
                        [this, &keeper, shown = std::move(shown)]() mutable {
                          // Forgetting ends this function object.
                          auto tell = std::move(shown);
                          MountKeeper& asked = keeper;
                          loop_->Forget(asked.fd());
                          tell(asked.Result());
                        });
  }

  void Run() { loop_->Run(); }
  void Stop() { loop_->Stop(); }

  uint64_t seed() const { return seed_; }
  size_t node_count() const { return fabric_->node_count(); }

 private:
  Server(const DaemonOptions& options, uint64_t seed,
         std::unique_ptr<Loop> loop, std::unique_ptr<fabric::Fabric> fabric)
      : options_(options),
        seed_(seed),
        loop_(std::move(loop)),
        fabric_(std::move(fabric)),
        attachments_(*loop_, *fabric_),
        methods_(*loop_, *fabric_),
        faults_(*fabric_) {
    methods_.AddTo(dispatcher_);
    faults_.AddTo(dispatcher_);
    attachments_.AddTo(dispatcher_);
    dispatcher_.Add(
        "ping", [](Parameters& parameters, Caller&) -> absl::StatusOr<json> {
          IBEMU_RETURN_IF_ERROR(parameters.Finish());
          return json::object();
        });
    dispatcher_.Add(
        "status",
        [this](Parameters& parameters, Caller&) -> absl::StatusOr<json> {
          IBEMU_RETURN_IF_ERROR(parameters.Finish());
          return Status();
        });
  }

  std::string Greeting() const {
    return Dump({{"jsonrpc", "2.0"},
                 {"method", "greeting"},
                 {"params",
                  {{"protocol", "ibemu"},
                   {"version", Version()},
                   {"capabilities", dispatcher_.names()},
                   {"socket", socket_},
                   {"seed", seed_},
                   {"pid", getpid()}}}});
  }

  json Status() const {
    return {{"version", Version()},
            {"pid", getpid()},
            {"socket", socket_},
            {"topology", options_.topology},
            {"sm", options_.sm},
            {"seed", seed_},
            {"fabric", methods_.Summary()},
            {"views", attachments_.List()}};
  }

  const DaemonOptions options_;
  const uint64_t seed_;
  std::string socket_;
  UniqueFd signals_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<fabric::Fabric> fabric_;
  Attachments attachments_;
  FabricMethods methods_;
  FaultMethods faults_;
  Dispatcher dispatcher_;
  std::unique_ptr<ControlServer> control_;
};

// Serves until the end.  Whoever wants to hear of the start is told through
// `started`.
absl::Status Serve(Server& server, ControlSocket& socket,
                   std::initializer_list<int> signals,
                   absl::FunctionRef<void()> started) {
  IBEMU_RETURN_IF_ERROR(server.WatchSignals(signals));
  IBEMU_RETURN_IF_ERROR(server.Open(socket));
  IBEMU_RETURN_IF_ERROR(DropCapabilities());
  if (const absl::Status forbidden = ForbidSystemCalls(); !forbidden.ok()) {
    // Some sandboxes know no seccomp; serving needs none of it.
    spdlog::warn("may make every system call: {}",
                 std::string(forbidden.message()));
  }
  started();
  server.Run();
  return absl::OkStatus();
}

absl::Status CheckOnly(const DaemonOptions& options) {
  IBEMU_ASSIGN_OR_RETURN(const std::unique_ptr<Server> server,
                         Server::Load(options));
  spdlog::info("{}: no faults: {} nodes", options.topology,
               server->node_count());
  return absl::OkStatus();
}

void SayReady(const Server& server, const ControlSocket& socket) {
  spdlog::info("ready: {} nodes, seed {}, socket {}", server.node_count(),
               server.seed(), socket.path());
}

absl::Status ServeSystem(const DaemonOptions& options, Server& server,
                         ControlSocket& socket, UniqueFd fuse,
                         MountKeeper& keeper) {
  absl::Status end;
  IBEMU_RETURN_IF_ERROR(server.ShowSystem(options.hosts, std::move(fuse),
                                          keeper, [&](absl::Status shown) {
                                            if (shown.ok())
                                              return SayReady(server, socket);
                                            end = std::move(shown);
                                            server.Stop();
                                          }));
  IBEMU_RETURN_IF_ERROR(
      Serve(server, socket, {SIGTERM, SIGINT, SIGHUP}, [] {}));
  return end;
}

absl::Status Run(const DaemonOptions& options) {
  if (options.check) return CheckOnly(options);
  UniqueFd fuse;
  std::optional<MountKeeper> keeper;
  if (options.system_wide) {
    IBEMU_RETURN_IF_ERROR(OpenCuse().status());
    IBEMU_ASSIGN_OR_RETURN(fuse, OpenFuse());
    // Before anything is open that it should not keep open.
    IBEMU_ASSIGN_OR_RETURN(
        keeper, MountKeeper::Fork(fuse.get(), options.cover_sys_class));
  }
  std::string path = options.socket;
  if (path.empty() || path.find('/') == std::string::npos) {
    IBEMU_RETURN_IF_ERROR(PrepareSocketDirectory(SocketDirectory()));
    IBEMU_ASSIGN_OR_RETURN(path, SocketPath(path.empty() ? "default" : path));
  }
  IBEMU_ASSIGN_OR_RETURN(ControlSocket socket,
                         ControlSocket::Claim(std::move(path)));
  IBEMU_ASSIGN_OR_RETURN(const std::unique_ptr<Server> server,
                         Server::Load(options));
  IBEMU_RETURN_IF_ERROR(
      keeper ? ServeSystem(options, *server, socket, std::move(fuse), *keeper)
             : Serve(*server, socket, {SIGTERM, SIGINT, SIGHUP},
                     [&] { SayReady(*server, socket); }));
  spdlog::info("ended by a signal");
  return absl::OkStatus();
}

// A name that no other daemon has: process ids are unique on this machine, and
// the directory is not shared with another.
absl::StatusOr<ControlSocket> ClaimPrivateSocket(const DaemonOptions& options) {
  if (!options.socket.empty()) return ControlSocket::Claim(options.socket);
  const std::string directory = SocketDirectory();
  IBEMU_RETURN_IF_ERROR(PrepareSocketDirectory(directory));
  return ControlSocket::Claim(
      absl::StrCat(directory, "/run-", getpid(), ".sock"));
}

absl::Status RunPrivate(const DaemonOptions& options, UniqueFd& client) {
  IBEMU_ASSIGN_OR_RETURN(ControlSocket socket, ClaimPrivateSocket(options));
  IBEMU_ASSIGN_OR_RETURN(const std::unique_ptr<Server> server,
                         Server::Load(options));
  return Serve(*server, socket, {SIGTERM},
               [&] { server->Adopt(std::move(client)); });
}

void LogToStandardError() {
  spdlog::set_default_logger(spdlog::stderr_logger_st("ibemud"));
  spdlog::set_pattern("ibemud: %v");
}

}  // namespace

int RunDaemon(const DaemonOptions& options) {
  LogToStandardError();
  const absl::Status status = Run(options);
  if (status.ok()) return 0;
  // Several faults of a file are several lines, each complete in itself.
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

int RunPrivateDaemon(const DaemonOptions& options, int client_fd) {
  LogToStandardError();
  setsid();
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  UniqueFd client(client_fd);
  const absl::Status status = RunPrivate(options, client);
  if (status.ok()) return 0;
  const std::string refusal = RefuseRequest(status) + "\n";
  send(client.get(), refusal.data(), refusal.size(), MSG_NOSIGNAL);
  return 1;
}

}  // namespace ibemu::daemon
