// The memory of a process that uses verbs.
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

// Bytes that several hold: a message under way.
using Buffer = std::shared_ptr<std::vector<std::byte>>;

// Some of a buffer's bytes, and where they are in the process.
struct MemoryPiece {
  uint64_t address = 0;
  Buffer buffer;
  size_t offset = 0;
  size_t size = 0;
};

// Pages of the process may be missing, slow, or wait for us: so nothing here
// happens at once.  Calls are carried out one after the other, in the order in
// which they came, and `done` is called on the loop thread after the call has
// returned; not at all when the front end ends first.
//
// Errors: DataLoss when not all of it could be reached, Unavailable when the
// process has ended.
class Memory {
 public:
  using Done = absl::AnyInvocable<void(absl::Status)>;

  virtual ~Memory() = default;

  // Which process it is: the same number says that it is the same memory.
  virtual uint64_t process() const = 0;

  // What is registered, until this ends.
  class Pin {
   public:
    virtual ~Pin() = default;
  };
  using Pinned = absl::AnyInvocable<void(absl::StatusOr<std::unique_ptr<Pin>>)>;

  // For registration: `length` bytes from `start` on must be there, to be read
  // or also written, and are counted.
  //
  // Errors: DataLoss when they aren't, PermissionDenied and ResourceExhausted
  // when the process may not lock so much, Unavailable.
  virtual void PinPages(uint64_t start, uint64_t length, bool writable,
                        Pinned done) = 0;

  // From the process into the buffers, or the reverse.
  virtual void Read(std::vector<MemoryPiece> pieces, Done done) = 0;
  virtual void Write(std::vector<MemoryPiece> pieces, Done done) = 0;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_MEMORY_H_
