// The other end of the control socket, for ibemu.
#ifndef IBEMU_CONTROL_CLIENT_H_
#define IBEMU_CONTROL_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::control {

// What the daemon says first.
struct Greeting {
  std::string version;
  std::vector<std::string> capabilities;  // the methods it knows
  std::string socket;  // its path: what IBEMU_FABRIC should be
  uint64_t seed = 0;
  std::string backend;  // "hca"; empty: a simulated subnet
  int pid = 0;
};

struct AttachRequest {
  std::vector<std::string> hosts;  // empty: the first channel adapter
  std::string device_name = "ibemu%d";
  std::string profile = "qib";
};

struct AttachedDevice {
  std::string name;        // "ibemu0"
  std::string node;        // the node's description
  std::string node_guid;   // "0x0002c90300000001"
  std::vector<int> umads;  // numbers of umadN and issmN, one a port
};

// A connection.  Every call blocks; nothing here needs a loop.
class Client {
 public:
  // `fabric` is a name, or a path if it has a slash; empty: IBEMU_FABRIC, else
  // "default".
  //
  // Errors:
  //   InvalidArgument     not a name
  //   NotFound            no daemon listens there ("did you mean ...")
  //   PermissionDenied    it is another user's
  //   Unavailable         it went away, or speaks another protocol
  static absl::StatusOr<Client> Connect(std::string_view fabric);

  // Takes over a connected socket (RunPrivateDaemon's) and waits for the
  // greeting.
  //
  // Errors: what kept the daemon from serving, with its own message.
  static absl::StatusOr<Client> Adopt(int fd);

  Client(Client&& other) noexcept;
  Client& operator=(Client&& other) noexcept;
  ~Client();

  const Greeting& greeting() const;

  // Readable or hung up between calls only when the daemon has ended.
  int fd() const;

  // Calls `method` and waits for the result.
  //
  // Errors: the daemon's, code and message; Unavailable when it is gone.
  absl::StatusOr<nlohmann::json> Call(std::string_view method,
                                      const nlohmann::json& parameters);

  // Hands a /dev/fuse descriptor to the daemon, which serves the view of
  // `request` on it as long as this connection is open: then it closes the
  // descriptor, and programs that outlive their run get ENOTCONN.  `fuse_fd`
  // stays the caller's to close.
  absl::StatusOr<std::vector<AttachedDevice>> Attach(
      int fuse_fd, const AttachRequest& request);

  // The same with one end of a socket pair, for a method that sends a stream
  // as long as this connection is open: gives the other end.
  absl::StatusOr<UniqueFd> OpenStream(std::string_view method,
                                      const nlohmann::json& parameters);

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_CLIENT_H_
