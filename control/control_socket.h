// ControlSocket: the name under which a daemon is found.
#ifndef IBEMU_CONTROL_CONTROL_SOCKET_H_
#define IBEMU_CONTROL_CONTROL_SOCKET_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::control {

// A ControlSocket owns the files PATH, a socket, and PATH.lock.  The lock says
// whether the owner of PATH is alive, so the files of a daemon that was killed
// are simply taken over.
class ControlSocket {
 public:
  // Takes the name.  Nobody can connect yet.
  //
  // Errors:
  //   AlreadyExists       a daemon has it ("... is running already ...")
  //   FailedPrecondition  PATH exists and is no socket, or it or PATH.lock is
  //                       another user's
  static absl::StatusOr<ControlSocket> Claim(std::string path);

  // Takes a name in `directory` that no other has, for a daemon that lives as
  // long as a run.  Removes what such daemons left there when they and their
  // runs were killed.
  static absl::StatusOr<ControlSocket> ClaimPrivate(
      const std::string& directory);

  // Takes the name of a socket that listens already, and that was made by
  // whoever started this process: the socket stays when this process ends.
  //
  // Errors: AlreadyExists as above; InvalidArgument if `listening` is no such
  // socket.
  static absl::StatusOr<ControlSocket> Adopt(UniqueFd listening);

  ControlSocket(ControlSocket&&) = default;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();  // gives the name back

  // Makes the socket, with mode 0600, unless it was adopted.
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

// Removes the files that a killed daemon left at `path`.  Does nothing while a
// daemon runs there.
void RemoveRemains(const std::string& path);

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_CONTROL_SOCKET_H_
