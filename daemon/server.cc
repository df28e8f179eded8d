#include "daemon/server.h"

#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "daemon/progress.h"
#include "daemon/version.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

absl::Status CheckSm(const std::string& sm) {
  if (sm == "none" || sm == "static" || sm == "builtin") {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--sm=", sm, ": there are \"none\", \"static\" and \"builtin\"",
      DidYouMean(sm, {"none", "static", "builtin"}).Question()));
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
  } else if (options.sm == "builtin") {
    progress.Show("configuring the subnet", 0, 0);
    IBEMU_RETURN_IF_ERROR(fabric::StartSubnetManager(*fabric));
  }
  return fabric;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Load(
    const DaemonOptions& options) {
  IBEMU_RETURN_IF_ERROR(CheckSm(options.sm));
  IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<Loop> loop, MakeLoop());
  const uint64_t seed = ChooseSeed(options);
  IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<fabric::Fabric> fabric,
                         LoadFabric(options, seed, *loop));
  return std::unique_ptr<Server>(
      new Server(options, seed, std::move(loop), std::move(fabric)));
}

Server::Server(const DaemonOptions& options, uint64_t seed,
               std::unique_ptr<Loop> loop,
               std::unique_ptr<fabric::Fabric> fabric)
    : options_(options),
      seed_(seed),
      loop_(std::move(loop)),
      fabric_(std::move(fabric)),
      attachments_(*loop_, *fabric_),
      methods_(*loop_, *fabric_),
      events_(*loop_, *fabric_, absl::Now() - loop_->Now()),
      faults_(*loop_, *fabric_, events_),
      captures_(*loop_, *fabric_),
      event_methods_(*loop_, events_),
      counters_(*fabric_),
      hardware_(*fabric_),
      paths_(*fabric_),
      scenarios_(*loop_, *fabric_, faults_, events_, dispatcher_),
      wires_(*loop_, *fabric_, attachments_) {
  methods_.AddTo(dispatcher_);
  faults_.AddTo(dispatcher_);
  captures_.AddTo(dispatcher_);
  event_methods_.AddTo(dispatcher_);
  counters_.AddTo(dispatcher_);
  hardware_.AddTo(dispatcher_);
  paths_.AddTo(dispatcher_);
  scenarios_.AddTo(dispatcher_);
  wires_.AddTo(dispatcher_);
  attachments_.AddTo(dispatcher_);
  dispatcher_.Add("ping",
                  [](Parameters& parameters, Caller&) -> absl::StatusOr<json> {
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

Server::~Server() {
  if (signals_.valid()) loop_->Forget(signals_.get());
}

absl::Status Server::WatchSignals(std::initializer_list<int> signals) {
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

absl::Status Server::Open(ControlSocket& socket) {
  socket_ = socket.path();
  IBEMU_RETURN_IF_ERROR(socket.Listen());
  control_ = std::make_unique<ControlServer>(*loop_, dispatcher_, Greeting());
  return control_->Listen(socket.fd());
}

absl::Status Server::OpenWeb() {
  if (!options_.web) return absl::OkStatus();
  IBEMU_ASSIGN_OR_RETURN(web_, WebServer::Bind(*options_.web, *loop_, *fabric_,
                                               events_, dispatcher_));
  return absl::OkStatus();
}

void Server::StartWeb() {
  if (web_ != nullptr) web_->Start();
}

void Server::Adopt(UniqueFd client) {
  control_->Adopt(std::move(client), [this] { loop_->Stop(); });
}

absl::Status Server::ShowSystem(UniqueFd fuse) {
  return attachments_.AttachSystem(options_.hosts, options_.major_number,
                                   std::move(fuse));
}

absl::Status Server::Await(int fd, absl::AnyInvocable<void()> ready) {
  return loop_->Watch(fd, [this, fd, ready = std::move(ready)]() mutable {
    loop_->Forget(fd);
    ready();
  });
}

void Server::Repeat(absl::Duration period, absl::AnyInvocable<void()> task) {
  loop_->RunAfter(period, [this, period, task = std::move(task)]() mutable {
    task();
    Repeat(period, std::move(task));
  });
}

std::string Server::Greeting() const {
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

json Server::Status() const {
  return {{"version", Version()},
          {"pid", getpid()},
          {"socket", socket_},
          {"topology", options_.topology},
          {"sm", options_.sm},
          {"seed", seed_},
          {"fabric", methods_.Summary()},
          {"views", attachments_.List()}};
}

}  // namespace ibemu::daemon
