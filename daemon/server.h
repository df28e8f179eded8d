// One back end, served to the programs that attach to it.
#ifndef IBEMU_DAEMON_SERVER_H_
#define IBEMU_DAEMON_SERVER_H_

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "control/control_server.h"
#include "control/control_socket.h"
#include "control/method_table.h"
#include "daemon/adapters/host_table.h"
#include "daemon/backend.h"
#include "daemon/connections/connection_events.h"
#include "daemon/connections/connection_history.h"
#include "daemon/connections/connection_methods.h"
#include "daemon/connections/connection_table.h"
#include "daemon/daemon_options.h"
#include "daemon/networks/network_table.h"
#include "daemon/resources/resource_methods.h"
#include "daemon/views/attachments.h"
#include "daemon/web/web_server.h"
#include "loop/loop.h"
#include "loop/signals.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

// The back end, and all that serves it.  Members are destroyed from the last to
// the first: connections before the views they hold, views before the back end.
class Server {
 public:
  // `alive` is told about once a second while an adapter has to be waited for,
  // now or later.
  //
  // Errors: those of FabricBackend::Load() or HcaBackend::Load(), and the
  // loop's.
  static absl::StatusOr<std::unique_ptr<Server>> Load(
      const DaemonOptions& options, std::function<void()> alive = [] {});

  ~Server();

  // The signals end Run(), and not the process, from now on or since
  // BlockSignals().
  absl::Status WatchSignals(std::initializer_list<int> signals);

  // Lets clients in.  `socket` must outlive this.
  absl::Status Open(control::ControlSocket& socket);

  // Takes the address of --http, if there is one; StartWeb() answers there.
  //
  // Errors: WebServer::Bind()'s.
  absl::Status OpenWeb();
  void StartWeb();
  const WebServer* web() const { return web_.get(); }

  // Serves the one client for whom the daemon lives.
  void Adopt(UniqueFd client);

  // Shows the hosts' devices to the whole machine, their sysfs entries through
  // `fuse`: Attachments::AttachSystem().
  absl::Status ShowSystem(UniqueFd fuse);

  // Calls `ready` once, when `fd` is readable.
  absl::Status Await(int fd, absl::AnyInvocable<void()> ready);

  // Calls `task` every `period` as long as the loop turns.
  void Repeat(absl::Duration period, absl::AnyInvocable<void()> task);

  void Run() { loop_->Run(); }
  void Stop() { loop_->Stop(); }

  // Describes the back end, for people.
  std::string Summary() const { return backend_->Summary(); }

 private:
  Server(const DaemonOptions& options, std::unique_ptr<Loop> loop,
         std::unique_ptr<Backend> backend);

  std::string Greeting() const;
  nlohmann::json Status() const;

  const DaemonOptions options_;
  std::string socket_;
  UniqueFd signals_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Backend> backend_;
  HostTable hosts_;
  ConnectionTable connections_;
  ConnectionHistory connection_history_;
  ConnectionEvents connection_events_;
  ConnectionMethods connection_methods_;
  NetworkTable networks_;
  Attachments attachments_;
  ResourceMethods resource_methods_;
  control::MethodTable dispatcher_;
  std::unique_ptr<control::ControlServer> control_;
  std::unique_ptr<WebServer> web_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SERVER_H_
