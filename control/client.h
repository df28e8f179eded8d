// The client's end of the control socket, for ibemu.
#ifndef IBEMU_CONTROL_CLIENT_H_
#define IBEMU_CONTROL_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::control {

// The daemon's first message.
struct Greeting {
  std::string version;
  std::vector<std::string> capabilities;  // the names of its methods
  std::string socket;  // its path, the value for IBEMU_FABRIC
  uint64_t seed = 0;
  std::string backend;  // "hca", or empty for a simulated subnet
  int pid = 0;
};

// An AttachRequest says which hosts' devices a view shows, and how they look:
// the parameters of the method `attach`.
struct AttachRequest {
  std::vector<std::string> hosts;  // if empty, the first channel adapter
  std::string device_name = "ibemu%d";
  std::string profile = "qib";
};

// An AttachedDevice is one adapter of a view, by the names that programs see
// there.
struct AttachedDevice {
  std::string name;        // "ibemu0"
  std::string node;        // the node's description
  std::string node_guid;   // "0x0002c90300000001"
  std::vector<int> umads;  // the N of umadN and issmN, one per port
};

// A host that has an address.
struct NamedAddress {
  std::string address;    // "198.18.0.2"
  std::string node;       // the node's description
  std::string partition;  // of a further partition's interface: "8001"
  std::string ethernet;   // of a switch's: "blue"
};

// An Attached is the result of the method `attach`: the devices of the view, in
// its order, and the addresses of the fabric's hosts.
struct Attached {
  std::vector<AttachedDevice> devices;
  std::vector<NamedAddress> names;  // of hosts of the fabric
};

// A port that becomes a network interface.
struct NetworkPort {
  std::string node;  // its GUID
  int port = 0;
  std::string partition{};  // a further one's, "8001"; else empty
  std::string ethernet{};   // the switch's name; empty: it is of IPoIB
};

// The network interface of a run.
struct AttachedNetwork {
  std::vector<std::string> addresses;  // "198.18.0.1/16"
  std::string mac;                     // of Ethernet: "02:00:00:00:00:05"
  int mtu = 0;                         // 0: not known yet
  bool waits = false;                  // it will be up soon
};

// A Client is one connection to a daemon.  Every call blocks; no loop is
// needed.
class Client {
 public:
  // Connects to the daemon of `fabric`, which is a name, or a path if it
  // contains a slash; if it is empty, that of $IBEMU_FABRIC, else "default".
  // `patience`: how long this and each call wait for the daemon's next words.
  //
  // Errors:
  //   InvalidArgument     not a name
  //   NotFound            no daemon listens there ("did you mean ...")
  //   PermissionDenied    the daemon is another user's
  //   Unavailable         the daemon went away, or speaks another protocol
  //   DeadlineExceeded    the daemon does not answer in time
  static absl::StatusOr<Client> Connect(
      std::string_view fabric,
      absl::Duration patience = absl::InfiniteDuration());

  // Takes over a connected socket, whose other end is RunPrivateDaemon()'s or
  // that of ibemu-peers, and waits for the greeting.  `patience`: as
  // Connect()'s.
  //
  // Errors: the one that kept the daemon from serving, with its own message.
  static absl::StatusOr<Client> Adopt(
      int fd, absl::Duration patience = absl::InfiniteDuration());

  Client(Client&& other) noexcept;
  Client& operator=(Client&& other) noexcept;
  ~Client();

  const Greeting& greeting() const;

  // Returns the socket.  Between calls, it becomes readable or hangs up only
  // when the daemon has ended.
  int fd() const;

  // Returns true if the daemon has said that it ends because it was asked to.
  // Between calls, when fd() has become readable.
  bool WasAskedToEnd();

  // Calls `method` and returns its result.
  //
  // Errors: the daemon's, with its code and message; Unavailable if the daemon
  // is gone; DeadlineExceeded if it does not answer in time.
  absl::StatusOr<nlohmann::json> Call(std::string_view method,
                                      const nlohmann::json& parameters);
  // Calls a method with a descriptor, which remains the caller's to close, and
  // drops its result.  Errors: as Call().
  absl::Status CallWith(std::string_view method,
                        const nlohmann::json& parameters, int fd);

  // Passes a /dev/fuse descriptor to the daemon, which serves the view of
  // `request` on it as long as this connection is open.  Then the daemon closes
  // the descriptor, and programs that outlive their run get ENOTCONN.
  // `fuse_fd` remains the caller's to close.
  absl::StatusOr<Attached> Attach(int fuse_fd, const AttachRequest& request);

  // Returns the ports with addresses of the hosts that Attach() would show,
  // each followed by its further partitions, of which P_Keys are given, and by
  // its ports on switches of Ethernet, of which names are.
  //
  // Errors: AlreadyExists, another run has one of them for a network;
  // InvalidArgument or FailedPrecondition, a port can't be in that partition,
  // or a switch not be called that.
  absl::StatusOr<std::vector<NetworkPort>> NetworkPorts(
      const std::vector<std::string>& hosts,
      const std::vector<std::string>& partitions,
      const std::vector<std::string>& switches);

  // Passes a TUN device, of Ethernet a TAP device, to the daemon, which carries
  // its packets as long as this connection is open.  `tun_fd` remains the
  // caller's to close.  `connected`: in IPoIB's connected mode.
  absl::StatusOr<AttachedNetwork> AttachNetwork(int tun_fd,
                                                const NetworkPort& port,
                                                bool connected);
  // Returns what AttachNetwork() did, as it is now.
  absl::StatusOr<AttachedNetwork> ShowNetwork(const NetworkPort& port);

  // Calls a method that sends a stream, most of them as long as this connection
  // is open: passes it one end of a socket pair, and returns the other end.
  absl::StatusOr<UniqueFd> OpenStream(std::string_view method,
                                      const nlohmann::json& parameters);

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_CLIENT_H_
