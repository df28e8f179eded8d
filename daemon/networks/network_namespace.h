// NetworkNamespace: the identity of the network namespace that a process is in.
#ifndef IBEMU_DAEMON_NETWORKS_NETWORK_NAMESPACE_H_
#define IBEMU_DAEMON_NETWORKS_NETWORK_NAMESPACE_H_

#include <sys/types.h>

#include <optional>

namespace ibemu::daemon {

// A NetworkNamespace names a namespace, for comparison with another.
struct NetworkNamespace {
  dev_t device = 0;
  ino_t number = 0;

  bool operator==(const NetworkNamespace&) const = default;
};

// Returns that of a process; nothing if it can't be seen.
std::optional<NetworkNamespace> NetworkNamespaceOf(pid_t pid);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_NETWORKS_NETWORK_NAMESPACE_H_
