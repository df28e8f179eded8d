// Access to the memory of a process that uses verbs.
#ifndef IBEMU_VERBS_MEMORY_H_
#define IBEMU_VERBS_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ibemu::verbs {

// A buffer with several owners, for a message under way.
using Buffer = std::shared_ptr<std::vector<std::byte>>;

// A part of a buffer, and its place in the process.
struct MemoryPiece {
  uint64_t address = 0;
  Buffer buffer;
  size_t offset = 0;
  size_t size = 0;
};

// A Memory reads and writes the memory of one process.
//
// Pages of the process may be missing, slow, or wait for this very daemon, so
// nothing here happens at once.  Calls are carried out one after the other, in
// the order in which they were made, and `done` is called on the loop thread
// after the call has returned; not at all if the front end ends first.
//
// Errors: DataLoss if not all of it could be reached, Unavailable if the
// process has ended.
class Memory {
 public:
  using Done = absl::AnyInvocable<void(absl::Status)>;

  virtual ~Memory() = default;

  // Identifies the process: two objects with the same number are the same
  // memory.
  virtual uint64_t process() const = 0;

  // A Pin is the registration of some memory, for as long as it exists.
  class Pin {
   public:
    virtual ~Pin() = default;
  };
  using Pinned = absl::AnyInvocable<void(absl::StatusOr<std::unique_ptr<Pin>>)>;

  // Registers `length` bytes from `start` on: they must be mapped and readable,
  // and writable if `writable`, and are counted against what the process may
  // lock.
  //
  // Errors: DataLoss if they aren't mapped so, PermissionDenied and
  // ResourceExhausted if the process may not lock so much, Unavailable.
  virtual void PinPages(uint64_t start, uint64_t length, bool writable,
                        Pinned done) = 0;

  // Copy from the process into the buffers, or the reverse.
  virtual void Read(std::vector<MemoryPiece> pieces, Done done) = 0;
  virtual void Write(std::vector<MemoryPiece> pieces, Done done) = 0;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_MEMORY_H_
