#include "daemon/server.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <utility>

#include "base/status_macros.h"
#include "base/version.h"
#include "control/rpc.h"
#include "daemon/fabric_backend.h"
#include "daemon/hca_backend.h"
#include "daemon/web/metrics/verbs_metrics.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Load(
    const DaemonOptions& options, std::function<void()> alive) {
  IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<Loop> loop, MakeLoop());
  IBEMU_ASSIGN_OR_RETURN(
      std::unique_ptr<Backend> backend,
      options.adapters.empty()
          ? FabricBackend::Load(options, *loop)
          : HcaBackend::Load(options, *loop, std::move(alive)));
  return std::unique_ptr<Server>(
      new Server(options, std::move(loop), std::move(backend)));
}

Server::Server(const DaemonOptions& options, std::unique_ptr<Loop> loop,
               std::unique_ptr<Backend> backend)
    : options_(options),
      loop_(std::move(loop)),
      backend_(std::move(backend)),
      hosts_(*loop_, backend_->adapters()),
      connections_(*loop_, hosts_, backend_->addresses(), backend_->seed()),
      connection_history_(backend_->adapters()),
      connection_events_(connections_, backend_->events(), connection_history_),
      connection_methods_(connections_),
      networks_(*loop_, backend_->adapters(), connections_),
      attachments_(*loop_, hosts_, connections_, networks_),
      resource_methods_(backend_->adapters(), attachments_.uverbs_files()) {
  connections_.SetWatcher(connection_events_);
  backend_->AddTo(dispatcher_, hosts_, attachments_.uverbs_files());
  connection_history_.AddTo(dispatcher_);
  connection_methods_.AddTo(dispatcher_);
  networks_.AddTo(dispatcher_);
  attachments_.AddTo(dispatcher_);
  resource_methods_.AddTo(dispatcher_);
  dispatcher_.Add("ping",
                  [](control::Parameters& parameters,
                     control::Caller&) -> absl::StatusOr<json> {
                    IBEMU_RETURN_IF_ERROR(parameters.Finish());
                    return json::object();
                  });
  dispatcher_.Add("status",
                  [this](control::Parameters& parameters,
                         control::Caller&) -> absl::StatusOr<json> {
                    IBEMU_RETURN_IF_ERROR(parameters.Finish());
                    return Status();
                  });
}

Server::~Server() {
  if (signals_.valid()) loop_->Forget(signals_.get());
}

absl::Status Server::WatchSignals(std::initializer_list<int> signals) {
  const sigset_t set = BlockSignals(signals);
  signals_.Reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  return loop_->Watch(signals_.get(), [this] {
    if (control_ != nullptr) control_->AnnounceEnd();
    loop_->Stop();
  });
}

absl::Status Server::Open(control::ControlSocket& socket) {
  socket_ = socket.path();
  IBEMU_RETURN_IF_ERROR(socket.Listen());
  control_ =
      std::make_unique<control::ControlServer>(*loop_, dispatcher_, Greeting());
  return control_->Listen(socket.fd());
}

absl::Status Server::OpenWeb() {
  if (!options_.web) return absl::OkStatus();
  IBEMU_ASSIGN_OR_RETURN(web_, backend_->BindWeb(*options_.web, dispatcher_));
  web_->AddMetrics(
      [this] { return VerbsMetrics(attachments_.uverbs_files()); });
  return absl::OkStatus();
}

void Server::StartWeb() {
  if (web_ != nullptr) web_->Start();
}

void Server::Adopt(UniqueFd client) {
  control_->Adopt(std::move(client), [this] { loop_->Stop(); });
}

absl::Status Server::ShowSystem(UniqueFd fuse) {
  return attachments_.AttachSystem(options_.hosts, options_.profile,
                                   options_.major_number, std::move(fuse));
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
  json greeting = {{"capabilities", dispatcher_.names()}, {"socket", socket_}};
  backend_->Greet(greeting);
  return control::GreetingLine(std::move(greeting));
}

json Server::Status() const {
  json status = {{"version", Version()},
                 {"pid", getpid()},
                 {"socket", socket_},
                 {"views", attachments_.List()},
                 {"networks", networks_.List()},
                 {"clients", attachments_.Clients()}};
  backend_->Describe(status);
  return status;
}

}  // namespace ibemu::daemon
