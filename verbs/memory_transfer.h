// Messages between buffers and the memory of processes.
#ifndef IBEMU_VERBS_MEMORY_TRANSFER_H_
#define IBEMU_VERBS_MEMORY_TRANSFER_H_

#include <vector>

#include "verbs/key_table.h"
#include "verbs/memory.h"

namespace ibemu::verbs {

// The part [offset, offset + size) of a message that lies in `ranges`.
MemoryRanges PartOf(const MemoryRanges& ranges, size_t offset, size_t size);
size_t LengthOf(const MemoryRanges& ranges);

// Pieces with the memory they are in.
class MemoryTransfer {
 public:
  // The bytes [offset, offset + ranges' length) of `buffer` belong to `ranges`.
  void Add(const MemoryRanges& ranges, const verbs::Buffer& buffer,
           size_t offset);

  size_t size() const { return size_; }
  bool empty() const { return parts_.empty(); }

  // Carries it out, and starts anew.  `done` is called after returning, with
  // the first error if there is one.
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

#endif  // IBEMU_VERBS_MEMORY_TRANSFER_H_
