#include "verbs/parts/memory_transfer.h"

#include <algorithm>
#include <utility>

namespace ibemu::verbs {

MemoryRanges PartOf(const MemoryRanges& ranges, size_t offset, size_t size) {
  MemoryRanges part;
  for (const MemoryRange& range : ranges) {
    if (size == 0) break;
    if (offset >= range.size) {
      offset -= range.size;
      continue;
    }
    const size_t taken = std::min(size, range.size - offset);
    part.push_back({range.memory, range.address + offset, taken});
    offset = 0;
    size -= taken;
  }
  return part;
}

size_t LengthOf(const MemoryRanges& ranges) {
  size_t length = 0;
  for (const MemoryRange& range : ranges) length += range.size;
  return length;
}

void MemoryTransfer::Add(const MemoryRanges& ranges,
                         const verbs::Buffer& buffer, size_t offset) {
  for (const MemoryRange& range : ranges) {
    if (parts_.empty() || parts_.back().memory != range.memory) {
      parts_.push_back({range.memory, {}});
    }
    auto& pieces = parts_.back().pieces;
    // Packets of a message: ranges that are contiguous on both sides are
    // joined.
    if (!pieces.empty() && pieces.back().buffer == buffer &&
        pieces.back().offset + pieces.back().size == offset &&
        pieces.back().address + pieces.back().size == range.address) {
      pieces.back().size += range.size;
    } else {
      pieces.push_back({range.address, buffer, offset, range.size});
    }
    offset += range.size;
    size_ += range.size;
  }
}

void MemoryTransfer::Run(bool write, verbs::Memory::Done done) {
  struct Shared {
    size_t left;
    absl::Status status;
    verbs::Memory::Done done;
  };
  size_ = 0;
  std::vector<Part> parts = std::exchange(parts_, {});
  auto shared = std::make_shared<Shared>(
      Shared{parts.size(), absl::OkStatus(), std::move(done)});
  for (Part& part : parts) {
    auto end = [shared](const absl::Status& status) {
      if (shared->status.ok()) shared->status = status;
      if (--shared->left == 0) shared->done(shared->status);
    };
    if (write) {
      part.memory->Write(std::move(part.pieces), std::move(end));
    } else {
      part.memory->Read(std::move(part.pieces), std::move(end));
    }
  }
}

}  // namespace ibemu::verbs
