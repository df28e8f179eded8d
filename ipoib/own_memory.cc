#include "ipoib/own_memory.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/copy_bytes.h"

namespace ibemu::ipoib {
namespace {

absl::Status OutOfRange() {
  return absl::DataLossError("outside the memory of this interface");
}

}  // namespace

OwnMemory::OwnMemory(Timers& timers, size_t size)
    : timers_(timers), bytes_(size) {}

std::span<std::byte> OwnMemory::At(uint64_t address, size_t size) {
  return std::span(bytes_).subspan(address - kStart, size);
}

void OwnMemory::Put(uint64_t address, std::span<const std::byte> bytes) {
  CopyBytes(bytes, At(address, bytes.size()).data());
}

// A client's memory has the number of a process, which is less than any
// address.
uint64_t OwnMemory::process() const { return reinterpret_cast<uint64_t>(this); }

void OwnMemory::PinPages(uint64_t start, uint64_t length, bool /*writable*/,
                         Pinned done) {
  const bool holds = Holds(start, length);
  timers_.RunSoon([holds, done = std::move(done)]() mutable {
    if (!holds) return done(OutOfRange());
    done(std::make_unique<Pin>());
  });
}

void OwnMemory::Read(std::vector<verbs::MemoryPiece> pieces, Done done) {
  ForEach(pieces, std::move(done),
          [](const verbs::MemoryPiece& piece, std::span<const std::byte> from) {
            CopyBytes(from, piece.buffer->data() + piece.offset);
          });
}

void OwnMemory::Write(std::vector<verbs::MemoryPiece> pieces, Done done) {
  ForEach(pieces, std::move(done),
          [](const verbs::MemoryPiece& piece, std::span<std::byte> to) {
            std::copy_n(piece.buffer->data() + piece.offset, piece.size,
                        to.data());
          });
}

bool OwnMemory::Holds(uint64_t address, uint64_t size) const {
  return address >= kStart && size <= bytes_.size() &&
         address - kStart <= bytes_.size() - size;
}

template <class Copy>
void OwnMemory::ForEach(const std::vector<verbs::MemoryPiece>& pieces,
                        Done done, Copy&& copy) {
  absl::Status status;
  for (const verbs::MemoryPiece& piece : pieces) {
    if (!Holds(piece.address, piece.size)) {
      status = OutOfRange();
      break;
    }
    copy(piece, At(piece.address, piece.size));
  }
  timers_.RunSoon([status, done = std::move(done)]() mutable { done(status); });
}

}  // namespace ibemu::ipoib
