// read() and write() calls that are longer than one request.
#ifndef IBEMU_CUSE_FUSE_SPLIT_CALLS_H_
#define IBEMU_CUSE_FUSE_SPLIT_CALLS_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "mad/address.h"

namespace ibemu::cuse {

// The kernel cuts a long call into requests of at most `piece` bytes, that is,
// of so many pages, with growing offsets; each starts when the one before was
// answered.  The first is shorter when the buffer does not begin on a page.  So
// a first piece that is shorter by less than a page may be all or not.
inline constexpr size_t kPageBytes = 4096;
inline bool MayGoOn(size_t size, size_t piece) {
  return size + kPageBytes > piece;
}

// The size that a blocked thread passed to its call, if it can be known.
using SizeOfCall = std::function<absl::StatusOr<size_t>(pid_t)>;

// Puts the writes of one open file together.  Threads write at the same time:
// CUSE does not keep their pieces apart, as FUSE does.
class SplitWrites {
 public:
  // More than any message, but less than all memory.
  static constexpr size_t kLimit = size_t{256} << 20;
  // Threads that may be in such a write at a time; one more, and the one that
  // began first is given up.  A thread that was killed in there stays behind.
  static constexpr size_t kMaxThreads = 32;

  enum class Verdict {
    kWhole,    // the call is complete: TakeWhole() has it
    kMore,     // the next piece is on its way
    kMaybe,    // the next piece may be on its way: if none comes soon, all
    kInvalid,  // no call that this piece continues, or too long
  };

  explicit SplitWrites(SizeOfCall size_of_write)
      : size_of_write_(std::move(size_of_write)) {}

  // Whether thread `tid` is in the midst of a call.
  bool pending(pid_t tid) const;

  // A piece at `offset` of thread `tid`.  A piece at offset 0 starts a call
  // anew; take what is pending before.  Of that piece `head_size` counts: the
  // bytes that are kept apart.
  Verdict Add(pid_t tid, uint64_t offset, mad::Bytes data, size_t piece,
              size_t head_size);

  // False as long as more is known to be on its way.
  bool MayBeWhole(pid_t tid) const;

  struct Whole {
    std::vector<std::byte> head, body;
    size_t size() const { return head.size() + body.size(); }
  };
  Whole TakeWhole(pid_t tid);

 private:
  struct Call {
    pid_t tid = 0;
    size_t head_size = 0;
    std::optional<size_t> total;
    Whole data;
  };
  using Calls = std::vector<Call>;  // few, the first begun first

  Calls::iterator Find(pid_t tid);
  Call& Begin(pid_t tid, size_t head_size);

  SizeOfCall size_of_write_;
  Calls calls_;
};

// Keeps what readers of one open file have not got yet.
class SplitReads {
 public:
  // Thread `tid` has read so far that `offset` comes next: what is in `bytes`
  // after the first `sent`.
  void Keep(pid_t tid, uint64_t offset, std::vector<std::byte> bytes,
            size_t sent);

  // At most `size` bytes for a read at `offset` > 0; empty at the end.  Valid
  // until the next call.
  mad::Bytes Next(pid_t tid, uint64_t offset, size_t size);

  // The thread begins another read, or may have read all.
  void Forget(pid_t tid);
  void ForgetIfRead(pid_t tid);

  bool empty() const { return rests_.empty(); }

 private:
  struct Rest {
    pid_t tid;
    uint64_t offset;  // of the next piece
    std::vector<std::byte> bytes;
    size_t sent;  // of `bytes`
  };
  std::vector<Rest>::iterator Find(pid_t tid);

  std::vector<Rest> rests_;  // few: one per thread in such a read
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_SPLIT_CALLS_H_
