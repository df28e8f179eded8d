// WriteBudget: the memory that unfinished writes of each user may take.
#ifndef IBEMU_CUSE_FUSE_WRITE_BUDGET_H_
#define IBEMU_CUSE_FUSE_WRITE_BUDGET_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace ibemu::cuse {

// The pieces of a long write() are kept by us until the last one comes, and
// nobody charges the client for them.  So each user has a budget, over all the
// files that he has open.
class WriteBudget {
 public:
  // In bytes: room for one message of the maximum size, or for many of usual
  // ones.
  static constexpr size_t kUsual = size_t{256} << 20;

  explicit WriteBudget(size_t of_user) : of_user_(of_user) {}

  // Returns the budget that all devices share.
  static std::shared_ptr<WriteBudget> OfThisDaemon();

  // Bytes that are taken, until this ends.
  class Share {
   public:
    // REQUIRES: `budget` outlives the share.
    Share(WriteBudget& budget, uid_t user) : budget_(&budget), user_(user) {}
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

    // Makes it `bytes` in all, if it is less.  Returns false if the user may
    // not have as much.
    bool GrowTo(size_t bytes);

   private:
    WriteBudget* budget_;
    uid_t user_;
    size_t bytes_ = 0;
  };

 private:
  bool Take(uid_t user, size_t bytes);
  void GiveBack(uid_t user, size_t bytes);

  const size_t of_user_;
  absl::flat_hash_map<uid_t, size_t> taken_;  // of those who have any
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_WRITE_BUDGET_H_
