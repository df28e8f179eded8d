// The server of the control socket.
#ifndef IBEMU_CONTROL_CONTROL_SERVER_H_
#define IBEMU_CONTROL_CONTROL_SERVER_H_

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/unique_fd.h"
#include "control/method_table.h"
#include "loop/acceptor.h"
#include "loop/loop.h"

namespace ibemu::control {

// A ControlServer serves clients from the loop: they send requests as lines,
// and get responses as lines.  It reads no further request from a client that
// does not read its responses, so a client costs at most the memory of one
// request and one response.
class ControlServer {
 public:
  static constexpr size_t kLongestLine = size_t{256} * 1024;
  static constexpr size_t kMaxConnections = 256;

  // `greeting` is the line that each client gets first.  All must outlive this
  // object.
  ControlServer(Loop& loop, const MethodTable& dispatcher,
                std::string greeting);
  ~ControlServer();

  // Accepts connections from a listening socket, which remains the caller's.
  absl::Status Listen(int socket);

  // Serves one connected socket.  Calls `ended` when it is closed.
  void Adopt(UniqueFd socket, std::function<void()> ended);

  // Tells all clients that the daemon ends because it was asked to, with the
  // notification "ending".  Who does not read at present is not told.
  void AnnounceEnd();

 private:
  class Connection;

  void Remove(Connection* connection);

  Loop& loop_;
  const MethodTable& dispatcher_;
  const std::string greeting_;
  std::optional<Acceptor> acceptor_;
  std::list<std::unique_ptr<Connection>> connections_;
};

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_CONTROL_SERVER_H_
