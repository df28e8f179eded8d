// OwnMemory: memory of this process, for a user of verbs that is no client.
#ifndef IBEMU_IPOIB_OWN_MEMORY_H_
#define IBEMU_IPOIB_OWN_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/timers.h"
#include "verbs/memory.h"

namespace ibemu::ipoib {

// An OwnMemory is a buffer with the addresses kStart to kStart + its size.
class OwnMemory final : public verbs::Memory {
 public:
  static constexpr uint64_t kStart = 0x1000;

  // `timers` must outlive this.
  OwnMemory(Timers& timers, size_t size);

  // REQUIRES: the range lies in the buffer.
  std::span<std::byte> At(uint64_t address, size_t size);
  void Put(uint64_t address, std::span<const std::byte> bytes);

  uint64_t process() const override;
  void PinPages(uint64_t start, uint64_t length, bool writable,
                Pinned done) override;
  void Read(std::vector<verbs::MemoryPiece> pieces, Done done) override;
  void Write(std::vector<verbs::MemoryPiece> pieces, Done done) override;

 private:
  bool Holds(uint64_t address, uint64_t size) const;

  // Calls copy(piece, place) for each piece, then `done` soon.
  template <class Copy>
  void ForEach(const std::vector<verbs::MemoryPiece>& pieces, Done done,
               Copy&& copy);

  Timers& timers_;
  std::vector<std::byte> bytes_;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_OWN_MEMORY_H_
