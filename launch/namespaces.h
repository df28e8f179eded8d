// Namespaces of a run: where mounts are seen by the command alone.
#ifndef IBEMU_LAUNCH_NAMESPACES_H_
#define IBEMU_LAUNCH_NAMESPACES_H_

#include <sys/types.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ibemu::launch {

// The right by which a process mounts: its own, or one in a user namespace.
enum class Privilege {
  kMounts,         // may mount as it is: no user namespace was made
  kUserNamespace,  // a plain user, who keeps his ids in a namespace of his own
};

enum class Network { kShared, kOwn };

// Moves this process into a mount namespace of its own, from which no mount
// reaches the rest of the machine, and if it is to have its own network, into
// a network namespace.  For who may not make one: into a user namespace first.
// The process must have one thread.
//
// Errors: PermissionDenied when user namespaces are forbidden, naming what
// forbids them and the cure.
absl::StatusOr<Privilege> EnterNamespaces(Network network = Network::kShared);

// The kernel's settings for user namespaces; separate for tests.
struct NamespacePolicy {
  bool forbidden_by_sysctl = false;     // kernel.unprivileged_userns_clone
  bool restricted_by_apparmor = false;  // Ubuntu 23.10 and later
  bool none_left = false;               // user.max_user_namespaces = 0
  bool no_network_left = false;         // user.max_net_namespaces = 0
};
NamespacePolicy ReadNamespacePolicy();

// One sentence and the cure, for `error`, the errno of making one.
absl::Status NamespacesForbidden(const NamespacePolicy& policy, int error);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_NAMESPACES_H_
