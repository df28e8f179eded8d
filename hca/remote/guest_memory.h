// The memory of a virtual machine, as its QEMU shares it.
#ifndef IBEMU_HCA_REMOTE_GUEST_MEMORY_H_
#define IBEMU_HCA_REMOTE_GUEST_MEMORY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/unique_fd.h"
#include "hca/remote/mpqemu_message.h"

namespace ibemu::hca::remote {

// Files mapped at the guest's physical addresses.
class GuestMemory {
 public:
  GuestMemory() = default;
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;

  // In place of all that was there.
  //
  // Errors: InvalidArgument (EINVAL) for a region that is empty, overlaps
  // another, goes beyond its file, or whose file may shrink: a touch of what is
  // gone would kill us.  Those of mmap(2).  After an error there is no memory.
  absl::Status Replace(const std::vector<SyncMemory::Region>& regions);

  // False: not all of it is memory; then nothing was copied.  A write's last
  // aligned 8 bytes become visible after all before them, as those of a PCI
  // Express packet do: drivers find there whether an entry is theirs.
  bool Read(uint64_t address, std::span<std::byte> into) const;
  bool Write(uint64_t address, std::span<const std::byte> from);

 private:
  // One mapped region.
  class Mapping {
   public:
    Mapping(const SyncMemory::Region& region, std::byte* memory, dev_t device,
            ino_t inode);
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    ~Mapping();

    bool Shows(const SyncMemory::Region& region, dev_t device,
               ino_t inode) const;
    uint64_t address() const { return address_; }
    uint64_t end() const { return address_ + size_; }
    std::byte* At(uint64_t address) const {
      return memory_ + (address - address_);
    }

   private:
    uint64_t address_;
    uint64_t size_;
    uint64_t offset_;
    dev_t device_;
    ino_t inode_;
    std::byte* memory_;  // nullptr: moved away
  };

  // What is already mapped stays: QEMU tells of all memory whenever a BAR
  // moves.
  absl::Status Add(const SyncMemory::Region& region, std::vector<Mapping>& old);

  // Calls `copy(pointer, size)` for each piece of [address, address + size).
  template <class Copy>
  bool ForEachPiece(uint64_t address, size_t size, Copy copy) const;
  const Mapping* Find(uint64_t address) const;

  std::vector<Mapping> mappings_;  // 8 at most
};

}  // namespace ibemu::hca::remote

#endif  // IBEMU_HCA_REMOTE_GUEST_MEMORY_H_
