// PinnedPages: a count of the memory that processes have registered, with its
// limit.
#ifndef IBEMU_CUSE_CLIENT_PINNED_PAGES_H_
#define IBEMU_CUSE_CLIENT_PINNED_PAGES_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "verbs/memory.h"

namespace ibemu::cuse {

// The limit on the memory that a process may lock.
struct LockLimit {
  uint64_t bytes = 0;   // the soft RLIMIT_MEMLOCK
  bool exempt = false;  // it has CAP_IPC_LOCK in some namespace
};

// Reads the limit from /proc/PID.  A process that can't be examined may lock
// nothing.
LockLimit LockLimitOf(pid_t process);

// The counts of all processes, like Linux's mm_struct.pinned_vm: pages count as
// often as they are registered, in all files of a process together
// (drivers/infiniband/core/umem.c).
//
// Nothing is really pinned here, and an ordinary user can't raise a limit.  So
// the limit that everybody has, `usual`, restricts no one, but a lower one
// does.
class PinnedPages {
 public:
  struct Account {
    std::shared_ptr<UniqueFd> process;  // a pidfd
    uint64_t pages = 0;
  };

  // `usual` is in bytes.
  explicit PinnedPages(uint64_t usual) : usual_(usual) {}
  // Uses the limit of this process, which comes from the same source as that of
  // its clients.
  static std::shared_ptr<PinnedPages> OfThisMachine();

  // Returns the account of the process `id`, to which the pidfd belongs.
  std::shared_ptr<Account> AccountOf(pid_t id,
                                     std::shared_ptr<UniqueFd> process);

  // Counts the pages of a range until the result is destroyed.  REQUIRES:
  // `length` is not 0.
  //
  // Errors: PermissionDenied if the process may lock nothing, ResourceExhausted
  // if it may not lock that much more.
  absl::StatusOr<std::unique_ptr<verbs::Memory::Pin>> Charge(
      std::shared_ptr<Account> account, const LockLimit& limit, uint64_t start,
      uint64_t length) const;

 private:
  const uint64_t usual_;
  absl::flat_hash_map<pid_t, std::weak_ptr<Account>> accounts_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_PINNED_PAGES_H_
