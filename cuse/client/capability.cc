#include "cuse/client/capability.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>

namespace ibemu::cuse {

bool HasCapability(pid_t tid, int capability) {
  constexpr int kBitsOfSet = 32;
  __user_cap_header_struct thread{_LINUX_CAPABILITY_VERSION_3, tid};
  std::array<__user_cap_data_struct, 2> sets{};
  if (syscall(SYS_capget, &thread, sets.data()) != 0) return false;
  const auto set = static_cast<size_t>(capability / kBitsOfSet);
  return (sets[set].effective >> (capability % kBitsOfSet) & 1) != 0;
}

}  // namespace ibemu::cuse
