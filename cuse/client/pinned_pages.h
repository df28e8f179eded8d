// How much memory processes have registered, and how much they may.
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

// What a process may lock in memory.
struct LockLimit {
  uint64_t bytes = 0;   // RLIMIT_MEMLOCK, the soft one
  bool exempt = false;  // it has CAP_IPC_LOCK, in whatever namespace
};

// Of /proc/PID.  A process that can't be looked at may lock nothing.
LockLimit LockLimitOf(pid_t process);

// Linux's mm_struct.pinned_vm: pages are counted as often as they are
// registered, in all files of a process together (drivers/infiniband/core/
// umem.c).
//
// Nothing is pinned here, and a plain user can't raise a limit; so the limit
// that everybody has, `usual`, holds nobody back, but a lower one does.
class PinnedPages {
 public:
  struct Account {
    std::shared_ptr<UniqueFd> process;  // a pidfd
    uint64_t pages = 0;
  };

  // `usual`: in bytes.
  explicit PinnedPages(uint64_t usual) : usual_(usual) {}
  // Takes the limit of this process, which comes from where its clients do.
  static std::shared_ptr<PinnedPages> OfThisMachine();

  // Of the process `id`, to which the pidfd belongs.
  std::shared_ptr<Account> AccountOf(pid_t id,
                                     std::shared_ptr<UniqueFd> process);

  // Counts the pages of a range of which `length` is not 0, until the result
  // ends.
  //
  // Errors: PermissionDenied when the process may lock nothing,
  // ResourceExhausted when it may not lock so much more.
  absl::StatusOr<std::unique_ptr<verbs::Memory::Pin>> Charge(
      std::shared_ptr<Account> account, const LockLimit& limit, uint64_t start,
      uint64_t length) const;

 private:
  const uint64_t usual_;
  absl::flat_hash_map<pid_t, std::weak_ptr<Account>> accounts_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_PINNED_PAGES_H_
