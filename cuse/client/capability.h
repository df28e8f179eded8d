// HasCapability(): a right of a thread.
#ifndef IBEMU_CUSE_CLIENT_CAPABILITY_H_
#define IBEMU_CUSE_CLIENT_CAPABILITY_H_

#include <sys/types.h>

namespace ibemu::cuse {

// Returns true if thread `tid` has the effective capability (CAP_*), in its own
// user namespace: root in a run is root.
bool HasCapability(pid_t tid, int capability);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_CAPABILITY_H_
