// SplitWrites and SplitReads: write() and read() calls that are longer than one
// request.
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
#include "cuse/fuse/call_budget.h"
#include "mad/address.h"

namespace ibemu::cuse {

// The kernel splits a long call into requests ("pieces") of at most `piece`
// bytes, a number of pages, with increasing offsets.  Each one starts when the
// one before was answered.  The first is shorter if the buffer does not begin
// on a page boundary.  So a first piece that is shorter by less than a page may
// or may not be the whole call.
inline constexpr size_t kPageBytes = 4096;
inline bool MayGoOn(size_t size, size_t piece) {
  return size + kPageBytes > piece;
}

// The function that returns the size which a blocked thread passed to its call,
// if that can be found out.
using SizeOfCall = std::function<absl::StatusOr<size_t>(pid_t)>;

// The unfinished writes of one open file.  Several threads may write at the
// same time: CUSE, unlike FUSE, does not keep their pieces apart.
class SplitWrites {
 public:
  // The maximum number of threads in such a write at a time.  With one more,
  // the one that began first is given up.
  static constexpr size_t kMaxThreads = 32;

  enum class Verdict {
    kWhole,     // the call is complete: TakeWhole() has it
    kMore,      // the next piece is on its way
    kMaybe,     // another may come: if none does soon, complete
    kInvalid,   // no call that this piece continues
    kTooLong,   // the call is forgotten, as with kNoMemory
    kNoMemory,  // the user has no budget left
  };

  struct Piece {
    pid_t tid = 0;  // the thread that writes
    uid_t user = 0;
    uint64_t offset = 0;
    // Where the call begins, if this is its first piece; `offset` counts from
    // there.
    uint64_t start = 0;
    mad::Bytes data;
    size_t limit = 0;  // the maximum size of a piece
    // As it is with the first piece: the number of bytes that are kept apart.
    size_t head_size = 0;
    size_t longest = 0;  // the maximum size of the call
  };

  // REQUIRES: `budget` outlives this object.
  SplitWrites(SizeOfCall size_of_write, CallBudget& budget)
      : size_of_write_(std::move(size_of_write)), budget_(budget) {}

  // Returns true if thread `tid` is in the middle of a call.
  bool pending(pid_t tid) const;

  // Returns the offset within its call of a piece that thread `tid` appends at
  // `place`, where the kernel believes the file to end: 0 unless it continues
  // the pending call.
  uint64_t OffsetOfAppended(pid_t tid, uint64_t place);

  // Adds a piece.  One at offset 0 starts a new call, so what is pending must
  // be taken before.
  Verdict Add(const Piece& piece);

  // Returns false if more data are known to follow.
  bool MayBeWhole(pid_t tid) const;

  // Returns the size of the pending call of thread `tid`, if it is known.
  std::optional<size_t> SizeOf(pid_t tid);

  // Forgets the pending call of thread `tid`.
  void Forget(pid_t tid);

  struct Whole {
    std::vector<std::byte> head, body;
    size_t size() const { return head.size() + body.size(); }
  };
  Whole TakeWhole(pid_t tid);

 private:
  struct Call {
    pid_t tid = 0;
    uint64_t start = 0;
    size_t head_size = 0;
    std::optional<size_t> total;
    Whole data;
    CallBudget::Share share;
  };
  using Calls = std::vector<Call>;  // few; the oldest first

  Calls::iterator Find(pid_t tid);
  Verdict Begin(const Piece& first);

  SizeOfCall size_of_write_;
  CallBudget& budget_;
  Calls calls_;
};

// The data that readers of one open file have not got yet.
class SplitReads {
 public:
  // The maximum number of threads in such a read at a time.  With one more, the
  // one that began first is given up.
  static constexpr size_t kMaxThreads = 256;

  // REQUIRES: `budget` outlives this object.
  explicit SplitReads(CallBudget& budget) : budget_(budget) {}

  struct Answer {
    pid_t tid = 0;  // the thread that reads
    uid_t user = 0;
    std::vector<std::byte> bytes;
    size_t sent = 0;      // of `bytes`, with the first piece
    uint64_t offset = 0;  // of the next piece
  };

  // Keeps the part of an answer that is not sent with the first piece for the
  // next one.  Returns false, and keeps nothing, if the user has no budget
  // left.
  bool Keep(Answer answer);

  // Returns true if something is kept for thread `tid`.
  bool pending(pid_t tid) const;

  // Returns what was sent with the first piece; valid until the next call.
  // REQUIRES: something was just kept for that thread.
  mad::Bytes First(pid_t tid);

  // Returns at most `size` bytes for a read at `offset` > 0, and none at the
  // end.  Valid until the next call.
  mad::Bytes Next(pid_t tid, uint64_t offset, size_t size);

  // Drop the rest of a thread: in any case, or only if it was read.
  void Forget(pid_t tid);
  void ForgetIfRead(pid_t tid);

  bool empty() const { return rests_.empty(); }

 private:
  struct Rest {
    Answer answer;
    CallBudget::Share share;
  };
  std::vector<Rest>::iterator Find(pid_t tid);

  CallBudget& budget_;
  std::vector<Rest> rests_;  // few: one per thread in such a read
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_SPLIT_CALLS_H_
