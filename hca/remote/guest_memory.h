// GuestMemory: the memory of a virtual machine, as its QEMU shares it.
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

// The shared files, mapped into this process and found by guest-physical
// address.
class GuestMemory {
 public:
  GuestMemory() = default;
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;

  // Replaces all memory by `regions`.
  //
  // Errors: InvalidArgument (EINVAL) for a region that is empty, overlaps
  // another, goes beyond its file, or whose file may shrink (an access to
  // memory that is gone would kill the process); those of fstat(2) and mmap(2).
  // After an error there is no memory.
  absl::Status Replace(const std::vector<SyncMemory::Region>& regions);

  // Copy from and to guest memory.  Return false, and copy nothing, if not all
  // of the range is memory.  The last aligned 8 bytes of a write become visible
  // after all before them, as those of a PCI Express packet do: drivers read
  // there whether an entry is theirs.
  bool Read(uint64_t address, std::span<std::byte> into) const;
  bool Write(uint64_t address, std::span<const std::byte> from);

 private:
  // A mapped region.
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
    std::byte* memory_;  // nullptr: moved from
  };

  // Adds a region.  A mapping in `old` that shows it is reused, because QEMU
  // sends all memory whenever a BAR moves.
  absl::Status Add(const SyncMemory::Region& region, std::vector<Mapping>& old);

  // Calls `copy(pointer, size)` for each part of [address, address + size) that
  // is in one mapping.  Returns false, without a call, if not all of the range
  // is mapped.
  template <class Copy>
  bool ForEachPiece(uint64_t address, size_t size, Copy copy) const;
  const Mapping* Find(uint64_t address) const;

  std::vector<Mapping> mappings_;  // at most 8
};

}  // namespace ibemu::hca::remote

#endif  // IBEMU_HCA_REMOTE_GUEST_MEMORY_H_
