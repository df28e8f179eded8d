// One fabric, served to the programs that attach to it.
#ifndef IBEMU_DAEMON_SERVER_H_
#define IBEMU_DAEMON_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "daemon/attachments.h"
#include "daemon/capture_methods.h"
#include "daemon/control_server.h"
#include "daemon/control_socket.h"
#include "daemon/counter_methods.h"
#include "daemon/event_log.h"
#include "daemon/event_methods.h"
#include "daemon/fabric_methods.h"
#include "daemon/fault_methods.h"
#include "daemon/hardware_methods.h"
#include "daemon/loop.h"
#include "daemon/path_methods.h"
#include "daemon/rpc.h"
#include "daemon/scenario_methods.h"
#include "daemon/web/web_server.h"
#include "daemon/wire_methods.h"
#include "fabric/fabric.h"
#include "nlohmann/json.hpp"
#include "sysfs/view.h"

namespace ibemu::daemon {

struct DaemonOptions {
  std::string topology = "back-to-back";  // SPEC: a file or a generator
  std::string sm = "builtin";             // none, static or builtin
  std::optional<uint64_t> seed;           // drawn when absent
  // Path of the control socket.  Empty: "default" in SocketDirectory() for
  // ibemud, a free name there for a private daemon.
  std::string socket;
  bool check = false;  // load and verify only

  // --front-end=cuse: the devices of `hosts`, for the whole machine.
  bool system_wide = false;
  std::vector<std::string> hosts;  // none: the first adapter
  bool cover_sys_class = true;     // else the sysfs entries are at kSystemMount
  int major_number = sysfs::kMajor;  // 0: the kernel chooses

  std::optional<WebAddress> web;  // --http
};

// The fabric, and all that serves it.  Members are destroyed from the last to
// the first: connections before the views they hold, views before the fabric.
class Server {
 public:
  // Errors: those of the topology, of --sm, of the loop.
  static absl::StatusOr<std::unique_ptr<Server>> Load(
      const DaemonOptions& options);

  ~Server();

  // The signals end Run() from now on, and not the process.
  absl::Status WatchSignals(std::initializer_list<int> signals);

  // Lets clients in.  `socket` must outlive this.
  absl::Status Open(ControlSocket& socket);

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

  uint64_t seed() const { return seed_; }
  size_t node_count() const { return fabric_->node_count(); }

 private:
  Server(const DaemonOptions& options, uint64_t seed,
         std::unique_ptr<Loop> loop, std::unique_ptr<fabric::Fabric> fabric);

  std::string Greeting() const;
  nlohmann::json Status() const;

  const DaemonOptions options_;
  const uint64_t seed_;
  std::string socket_;
  UniqueFd signals_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<fabric::Fabric> fabric_;
  Attachments attachments_;
  FabricMethods methods_;
  EventLog events_;
  FaultMethods faults_;
  CaptureMethods captures_;
  EventMethods event_methods_;
  CounterMethods counters_;
  HardwareMethods hardware_;
  PathMethods paths_;
  ScenarioMethods scenarios_;
  WireMethods wires_;
  Dispatcher dispatcher_;
  std::unique_ptr<ControlServer> control_;
  std::unique_ptr<WebServer> web_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SERVER_H_
