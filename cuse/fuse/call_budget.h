// CallBudget: a limit on the memory that unfinished calls take.
#ifndef IBEMU_CUSE_FUSE_CALL_BUDGET_H_
#define IBEMU_CUSE_FUSE_CALL_BUDGET_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace ibemu::cuse {

// A CallBudget limits what each user, with all the files that he has open, and
// all users together make us keep: the pieces of a long write() until the last
// one comes, and the rest of what a long read() gets until it was read.  Nobody
// else charges the client for these.
class CallBudget {
 public:
  // In bytes: room for one message of the maximum size, or for many of usual
  // ones.
  static constexpr size_t kUsual = size_t{256} << 20;
  // A user may have other user ids as well (newuidmap).
  static constexpr size_t kUsualOfAll = 3 * kUsual;

  CallBudget(size_t of_user, size_t of_all)
      : of_user_(of_user), of_all_(of_all) {}

  // Returns the budget that all devices share.
  static std::shared_ptr<CallBudget> OfThisDaemon();

  // Bytes that are taken, until this ends.
  class Share {
   public:
    // REQUIRES: `budget` outlives the share.
    Share(CallBudget& budget, uid_t user) : budget_(&budget), user_(user) {}
    Share(Share&& other) noexcept
        : budget_(other.budget_),
          user_(other.user_),
          bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(user_, other.user_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() { budget_->GiveBack(user_, bytes_); }

    // Makes it `bytes` in all, if it is less.  Returns false if there is not as
    // much for the user, or for all.
    bool GrowTo(size_t bytes);

   private:
    CallBudget* budget_;
    uid_t user_;
    size_t bytes_ = 0;
  };

 private:
  bool Take(uid_t user, size_t bytes);
  void GiveBack(uid_t user, size_t bytes);

  const size_t of_user_;
  const size_t of_all_;
  size_t taken_by_all_ = 0;
  absl::flat_hash_map<uid_t, size_t> taken_;  // of those who have any
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_CALL_BUDGET_H_
