// Copies of messages between buffers and the memory of processes.
#ifndef IBEMU_VERBS_PARTS_MEMORY_TRANSFER_H_
#define IBEMU_VERBS_PARTS_MEMORY_TRANSFER_H_

#include <vector>

#include "verbs/memory.h"
#include "verbs/parts/key_table.h"

namespace ibemu::verbs {

// Returns the part [offset, offset + size) of a message that lies in `ranges`.
MemoryRanges PartOf(const MemoryRanges& ranges, size_t offset, size_t size);
// Returns the number of bytes in `ranges`.
size_t LengthOf(const MemoryRanges& ranges);

// A MemoryTransfer collects pieces of messages and copies them together, from
// or to the memory that each piece is in.
class MemoryTransfer {
 public:
  // Adds the bytes [offset, offset + LengthOf(ranges)) of `buffer`, which
  // belong to `ranges`.
  void Add(const MemoryRanges& ranges, const verbs::Buffer& buffer,
           size_t offset);

  size_t size() const { return size_; }
  bool empty() const { return parts_.empty(); }

  // Copy all that was added, and empty the transfer.  `done` is called after
  // the call has returned, with the first error if there is one.
  void Read(verbs::Memory::Done done) { Run(false, std::move(done)); }
  void Write(verbs::Memory::Done done) { Run(true, std::move(done)); }

 private:
  struct Part {
    std::shared_ptr<verbs::Memory> memory;
    std::vector<verbs::MemoryPiece> pieces;
  };
  void Run(bool write, verbs::Memory::Done done);

  size_t size_ = 0;
  std::vector<Part> parts_;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PARTS_MEMORY_TRANSFER_H_
