// Connections of the control socket: lines in, lines out.
#ifndef IBEMU_CONTROL_CONTROL_SERVER_H_
#define IBEMU_CONTROL_CONTROL_SERVER_H_

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/unique_fd.h"
#include "control/rpc.h"
#include "loop/loop.h"

namespace ibemu::control {

// Serves any number of clients from the loop.  A client that does not read its
// responses is not read from either, so each costs at most one request and one
// response of memory.
class ControlServer {
 public:
  static constexpr size_t kLongestLine = size_t{256} * 1024;
  static constexpr size_t kMaxConnections = 256;

  // `greeting` is the line that each client gets first.  All must outlive this.
  ControlServer(Loop& loop, const Dispatcher& dispatcher, std::string greeting);
  ~ControlServer();

  // Accepts from a listening socket, which stays the caller's.
  absl::Status Listen(int socket);

  // Serves one connected socket; calls `ended` when it is closed.
  void Adopt(UniqueFd socket, std::function<void()> ended);

  size_t connection_count() const { return connections_.size(); }

 private:
  class Connection;

  void Accept(int socket);
  void Remove(Connection* connection);

  Loop& loop_;
  const Dispatcher& dispatcher_;
  const std::string greeting_;
  int listening_ = -1;
  std::list<std::unique_ptr<Connection>> connections_;
};

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_CONTROL_SERVER_H_
