// The name under which a daemon is found: its socket and its lock.
#ifndef IBEMU_CONTROL_CONTROL_SOCKET_H_
#define IBEMU_CONTROL_CONTROL_SOCKET_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::control {

// PATH and PATH.lock.  The lock says whether the owner of PATH is alive, so
// what a dead daemon left behind is simply taken over.
class ControlSocket {
 public:
  // Takes the name; nobody can connect yet.
  //
  // Errors:
  //   AlreadyExists       a daemon has it ("... is running already ...")
  //   FailedPrecondition  PATH is there and is no socket
  static absl::StatusOr<ControlSocket> Claim(std::string path);

  // Takes the name of a socket that listens already, made by whoever started
  // us: the socket stays when we end.
  //
  // Errors: AlreadyExists as above, InvalidArgument when it is no such socket.
  static absl::StatusOr<ControlSocket> Adopt(UniqueFd listening);

  ControlSocket(ControlSocket&&) = default;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();  // gives the name back

  // Makes the socket, mode 0600, unless it was adopted.
  absl::Status Listen();

  const std::string& path() const { return path_; }
  int fd() const { return socket_.get(); }

 private:
  ControlSocket(std::string path, UniqueFd lock);

  std::string path_;
  UniqueFd lock_;
  UniqueFd socket_;
  bool adopted_ = false;
};

// Removes what a killed daemon left at `path`; nothing while one runs there.
void RemoveRemains(const std::string& path);

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_CONTROL_SOCKET_H_
