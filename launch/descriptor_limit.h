// RaiseDescriptorLimit: as many descriptors as this process may have.
#ifndef IBEMU_LAUNCH_DESCRIPTOR_LIMIT_H_
#define IBEMU_LAUNCH_DESCRIPTOR_LIMIT_H_

#include <sys/resource.h>

namespace ibemu::launch {

// Raises the soft limit of descriptors to the hard one, for this process and
// its children.  A program that calls select() can't use those above 1,023, so
// it is for processes that start none but ours.
inline void RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_DESCRIPTOR_LIMIT_H_
