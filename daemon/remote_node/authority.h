// The daemon whose subnet has the hosts that are joined.
#ifndef IBEMU_DAEMON_REMOTE_NODE_AUTHORITY_H_
#define IBEMU_DAEMON_REMOTE_NODE_AUTHORITY_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "control/client.h"
#include "launch/peers/peers_process.h"

namespace ibemu::daemon {

// An Authority is reached by its control socket, or on another machine by an
// ibemu-peers of our own.  Its functions may be called by several threads.
class Authority {
 public:
  // `name`: of a fabric, the path of a socket, or HOST:PORT of another machine.
  // One that may be a fabric's is a machine's, with the usual port, if no
  // fabric of that name is served here.  `certificates`: this machine's folder;
  // empty: the usual one.
  //
  // Errors: those of PeersProcess.
  static absl::StatusOr<std::shared_ptr<const Authority>> Find(
      const std::string& name, const std::string& certificates);

  // Errors: those of control::Client::Connect(); Unavailable when ibemu-peers
  // has ended.
  absl::StatusOr<control::Client> Connect(
      absl::Duration patience = absl::InfiniteDuration()) const;

  // Returns the error, of a fabric that could not be joined; with what else its
  // name might have meant, when nobody is there.
  absl::Status Explain(const absl::Status& error) const;

  const std::string& name() const { return name_; }

 private:
  Authority(std::string name, std::optional<launch::PeersProcess> peers,
            absl::Status not_here)
      : name_(std::move(name)),
        peers_(std::move(peers)),
        not_here_(std::move(not_here)) {}

  const std::string name_;
  const std::optional<launch::PeersProcess> peers_;
  // Why a name that may be a fabric's is a machine's; OK for any other one.
  const absl::Status not_here_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_AUTHORITY_H_
