#include "daemon/run_daemon.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "control/control_socket.h"
#include "control/rpc.h"
#include "control/socket_path.h"
#include "daemon/hca_backend.h"
#include "daemon/memory_trim.h"
#include "daemon/views/system_devices.h"
#include "launch/hardening.h"
#include "launch/mount_process.h"
#include "launch/mounts.h"
#include "launch/peers/peers_process.h"
#include "launch/systemd/service_manager.h"
#include "loop/loop.h"
#include "loop/signals.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace ibemu::daemon {
namespace {

constexpr absl::Duration kTrimPeriod = absl::Seconds(10);

// Serves until the end.  `prepare` is called when clients find the socket, and
// programs may still be started; whoever wants to hear of the start is told
// through `started`.
absl::Status Serve(Server& server, control::ControlSocket& socket,
                   std::initializer_list<int> signals, uint64_t capabilities,
                   absl::FunctionRef<absl::Status()> prepare,
                   absl::FunctionRef<absl::Status()> started) {
  IBEMU_RETURN_IF_ERROR(server.WatchSignals(signals));
  IBEMU_RETURN_IF_ERROR(server.Open(socket));
  IBEMU_RETURN_IF_ERROR(server.OpenWeb());
  IBEMU_RETURN_IF_ERROR(prepare());
  IBEMU_RETURN_IF_ERROR(launch::DropCapabilities(capabilities));
  if (const absl::Status forbidden = launch::ForbidSystemCalls();
      !forbidden.ok()) {
    // Some sandboxes know no seccomp; serving needs none of it.
    spdlog::warn("may make every system call: {}",
                 std::string(forbidden.message()));
  }
  server.StartWeb();
  server.Repeat(
      kTrimPeriod,
      [trim = MemoryTrim(MemoryTrim::Malloc())]() mutable { trim.Look(); });
  IBEMU_RETURN_IF_ERROR(started());
  server.Run();
  return absl::OkStatus();
}

uint64_t CapabilitiesFor(const DaemonOptions& options) {
  return launch::kReachesClients |
         (options.adapters.empty() ? 0 : launch::kDrivesAdapters);
}

// The process by which other machines join, if they may.
class Listener {
 public:
  explicit Listener(const DaemonOptions& options) : options_(options) {}

  // Starts it, if there is --listen; to be called while programs may still be
  // started.  `socket`: the daemon's own.
  absl::Status Start(const std::string& socket) {
    if (!options_.listen) return absl::OkStatus();
    fabric_ = socket;
    std::vector<std::string> words = {
        "listen", absl::StrCat("--fabric=", socket), *options_.listen};
    if (!options_.certificates.empty()) {
      words.push_back(absl::StrCat("--certs=", options_.certificates));
    }
    if (options_.encrypt) words.push_back("--encrypt");
    IBEMU_ASSIGN_OR_RETURN(peers_,
                           launch::PeersProcess::Start(std::move(words)));
    return absl::OkStatus();
  }

  // Calls `done` when it listens, or can't.  It is a client of ours, so this
  // waits for the loop.
  absl::Status Await(Server& server, std::function<void(absl::Status)> done) {
    if (!peers_) {
      done(absl::OkStatus());
      return absl::OkStatus();
    }
    return server.Await(
        peers_->line(), [this, &server, done = std::move(done)] {
          const absl::StatusOr<std::string> address = peers_->AwaitReady();
          if (!address.ok()) return done(address.status());
          address_ = *address;
          done(server.Await(peers_->line(), [this] { SayWhoIsGone(); }));
        });
  }

  // Where it listens, or "".
  const std::string& address() const { return address_; }

 private:
  void SayWhoIsGone() const {
    spdlog::error(
        "ibemu-peers has ended, and no other machine can join: start it again "
        "with \"ibemu listen --fabric={}{}\"",
        fabric_, options_.encrypt ? " --encrypt" : "");
  }

  const DaemonOptions& options_;
  std::optional<launch::PeersProcess> peers_;
  std::string fabric_;  // the path of its socket
  std::string address_;
};

// The error, so that a launcher knows it for one about `listen`, and can tell
// the place where that was said.
absl::Status ListenFault(const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(kListenFault, status.message()));
}

// The path, as it is without links; the socket need not be there.
std::filesystem::path Plain(const std::string& path) {
  std::error_code error;
  const auto plain = std::filesystem::weakly_canonical(
      std::filesystem::absolute(path, error), error);
  return error ? std::filesystem::path(path) : plain;
}

// A daemon that joins itself finds nobody, or waits for its own answer.
// `socket`: its own, where it may not listen yet.
absl::Status CheckJoin(const DaemonOptions& options,
                       const std::string& socket) {
  if (options.join.empty()) return absl::OkStatus();
  const absl::StatusOr<std::string> joined = control::SocketPath(options.join);
  if (!joined.ok() || Plain(*joined) != Plain(socket)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", options.join, "\" is the fabric that would join (", socket,
      "): name the one that has the subnet, and call this one otherwise; "
      "HOST:PORT is always another machine"));
}

// One ibemud, and who started it.
class Ibemud {
 public:
  explicit Ibemud(const DaemonOptions& options)
      : options_(options), listener_(options) {}

  absl::Status Run() {
    // Before anything is open that the process that mounts should not keep
    // open.
    if (options_.system_wide) IBEMU_RETURN_IF_ERROR(PrepareSystem());
    IBEMU_ASSIGN_OR_RETURN(control::ControlSocket socket, TakeSocket());
    socket_.emplace(std::move(socket));
    IBEMU_RETURN_IF_ERROR(CheckJoin(options_, socket_->path()));
    // A signal that ends the daemon while it takes adapters over must wait
    // until they can be given back.
    if (!options_.adapters.empty()) BlockSignalsForAdapters(kEndingSignals);
    IBEMU_ASSIGN_OR_RETURN(
        server_, Server::Load(options_, [this] { manager_.Alive(); }));
    if (options_.system_wide) IBEMU_RETURN_IF_ERROR(ShowSystem());
    if (const auto period = manager_.heartbeat()) {
      server_->Repeat(*period, [this] { manager_.Alive(); });
    }
    IBEMU_RETURN_IF_ERROR(Serve(
        *server_, *socket_, kEndingSignals, CapabilitiesFor(options_),
        [this] { return listener_.Start(socket_->path()); },
        [this] { return mount_process_ ? absl::OkStatus() : AwaitPeers(); }));
    manager_.Stopping();
    return end_;
  }

 private:
  // The right to mount goes with the rest: somebody else keeps it, a process
  // of ours or the service manager's.
  absl::Status PrepareSystem() {
    IBEMU_RETURN_IF_ERROR(OpenCuse().status());
    fuse_ = manager_.Take(launch::kFuseName);
    if (fuse_.valid()) {
      manager_.Unstore(launch::kFuseName);
      return absl::OkStatus();
    }
    IBEMU_ASSIGN_OR_RETURN(fuse_, launch::OpenFuse());
    IBEMU_ASSIGN_OR_RETURN(
        mount_process_,
        launch::MountProcess::Fork(fuse_.get(), options_.cover_sys_class));
    return absl::OkStatus();
  }

  absl::StatusOr<control::ControlSocket> TakeSocket() {
    if (UniqueFd passed = manager_.Take(launch::kControlName); passed.valid()) {
      return AdoptSocket(std::move(passed));
    }
    std::string path = options_.socket;
    if (path.empty() || path.find('/') == std::string::npos) {
      IBEMU_RETURN_IF_ERROR(
          control::PrepareSocketDirectory(control::SocketDirectory()));
      IBEMU_ASSIGN_OR_RETURN(
          path, control::SocketPath(path.empty() ? "default" : path));
    }
    return control::ControlSocket::Claim(std::move(path));
  }

  absl::StatusOr<control::ControlSocket> AdoptSocket(UniqueFd passed) const {
    IBEMU_ASSIGN_OR_RETURN(control::ControlSocket socket,
                           control::ControlSocket::Adopt(std::move(passed)));
    if (options_.socket.empty()) return socket;
    IBEMU_ASSIGN_OR_RETURN(const std::string named,
                           control::SocketPath(options_.socket));
    if (named == socket.path()) return socket;
    return absl::InvalidArgumentError(
        absl::StrCat(named, ": the control socket that was passed is ",
                     socket.path(), ": leave out --name and --socket"));
  }

  absl::Status ShowSystem() {
    IBEMU_RETURN_IF_ERROR(server_->ShowSystem(std::move(fuse_)));
    if (!mount_process_) return absl::OkStatus();
    return server_->Await(mount_process_->fd(), [this] {
      end_ = mount_process_->Result();
      if (end_.ok()) end_ = server_->Await(mount_process_->fd(), &SayWhatStays);
      if (end_.ok()) end_ = AwaitPeers();
      if (!end_.ok()) server_->Stop();
    });
  }

  absl::Status AwaitPeers() {
    return listener_.Await(*server_, [this](absl::Status status) {
      end_ = std::move(status);
      if (end_.ok()) return SayReady();
      server_->Stop();
    });
  }

  static void SayWhatStays() {
    spdlog::warn(
        "the process that unmounts was killed: when the daemon ends, {} and "
        "what covers {} stay, until the next one starts",
        launch::kSystemMount, launch::kSysClass);
  }

  void SayReady() {
    std::string what =
        absl::StrCat(server_->Summary(), ", socket ", socket_->path());
    std::string url;
    if (const WebServer* const web = server_->web()) {
      absl::StrAppend(&what, ", http://", web->address().Text());
      url = absl::StrCat("live view: ", web->ViewUrl());
    }
    if (!listener_.address().empty()) {
      absl::StrAppend(&what, ", for other machines at ", listener_.address());
    }
    // Every user may ask systemd for the status; the log is not for all.
    if (!url.empty()) spdlog::info("{}", url);
    spdlog::info("ready: {}", what);
    manager_.Ready(what);
  }

  const DaemonOptions& options_;
  launch::ServiceManager manager_;
  UniqueFd fuse_;
  std::optional<launch::MountProcess> mount_process_;
  Listener listener_;
  std::optional<control::ControlSocket> socket_;
  std::unique_ptr<Server> server_;
  absl::Status end_;
};

// First contact with each, as of ibemu hca-probe.
absl::Status ProbeOnly(const DaemonOptions& options) {
  BlockSignalsForAdapters(kEndingSignals);
  IBEMU_ASSIGN_OR_RETURN(const std::unique_ptr<Loop> loop, MakeLoop());
  return HcaBackend::Probe(options.adapters, *loop, PrintNow);
}

absl::Status CheckOnly(const DaemonOptions& options) {
  if (!options.adapters.empty()) return ProbeOnly(options);
  IBEMU_ASSIGN_OR_RETURN(const std::unique_ptr<Server> server,
                         Server::Load(options));
  spdlog::info("{}: no faults: {}", options.topology, server->Summary());
  return absl::OkStatus();
}

absl::Status Run(const DaemonOptions& options) {
  if (options.check) return CheckOnly(options);
  IBEMU_RETURN_IF_ERROR(Ibemud(options).Run());
  spdlog::info("ended by a signal");
  return absl::OkStatus();
}

absl::StatusOr<control::ControlSocket> ClaimPrivateSocket(
    const DaemonOptions& options) {
  if (!options.socket.empty())
    return control::ControlSocket::Claim(options.socket);
  const std::string directory = control::SocketDirectory();
  IBEMU_RETURN_IF_ERROR(control::PrepareSocketDirectory(directory));
  return control::ControlSocket::ClaimPrivate(directory);
}

absl::Status RunPrivate(const DaemonOptions& options, UniqueFd& client) {
  IBEMU_ASSIGN_OR_RETURN(control::ControlSocket socket,
                         ClaimPrivateSocket(options));
  IBEMU_RETURN_IF_ERROR(CheckJoin(options, socket.path()));
  if (!options.adapters.empty()) BlockSignalsForAdapters({SIGTERM});
  Listener listener(options);
  IBEMU_ASSIGN_OR_RETURN(const std::unique_ptr<Server> server,
                         Server::Load(options));
  absl::Status end;
  const auto adopt = [&](const absl::Status& listens) {
    end = ListenFault(listens);
    if (!end.ok()) return server->Stop();
    if (options.listen) {
      spdlog::info("for other machines at {}", listener.address());
    }
    server->Adopt(std::move(client));
  };
  IBEMU_RETURN_IF_ERROR(Serve(
      *server, socket, {SIGTERM}, CapabilitiesFor(options),
      [&] { return ListenFault(listener.Start(socket.path())); },
      [&] { return listener.Await(*server, adopt); }));
  return end;
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
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  UniqueFd client(client_fd);
  fcntl(client_fd, F_SETFD, FD_CLOEXEC);  // ibemu-peers is not to keep it
  const absl::Status status = RunPrivate(options, client);
  if (status.ok()) return 0;
  RefusePrivateDaemon(status, client.get());
  return 1;
}

void RefusePrivateDaemon(const absl::Status& status, int client_fd) {
  const std::string refusal = control::RefuseRequest(status) + "\n";
  send(client_fd, refusal.data(), refusal.size(), MSG_NOSIGNAL);
}

}  // namespace ibemu::daemon
