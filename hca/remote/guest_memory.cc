#include "hca/remote/guest_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/absl_text.h"

namespace ibemu::hca::remote {
namespace {

// Returns how many of the last bytes of a write of `size` bytes to `address`
// must be written after the rest.
size_t LastWord(uint64_t address, size_t size) {
  const size_t beyond = (address + size) % 8;
  return std::min(size, beyond == 0 ? size_t{8} : beyond);
}

absl::Status Refuse(const SyncMemory::Region& region, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrFormat("guest memory at %#x, %u bytes: %s", region.address,
                      region.size, Absl(why)));
}

}  // namespace

GuestMemory::Mapping::Mapping(const SyncMemory::Region& region,
                              std::byte* memory, dev_t device, ino_t inode)
    : address_(region.address),
      size_(region.size),
      offset_(region.offset),
      device_(device),
      inode_(inode),
      memory_(memory) {}

GuestMemory::Mapping::Mapping(Mapping&& other) noexcept
    : address_(other.address_),
      size_(other.size_),
      offset_(other.offset_),
      device_(other.device_),
      inode_(other.inode_),
      memory_(std::exchange(other.memory_, nullptr)) {}

GuestMemory::Mapping& GuestMemory::Mapping::operator=(
    Mapping&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  std::swap(offset_, other.offset_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  std::swap(memory_, other.memory_);
  return *this;
}

GuestMemory::Mapping::~Mapping() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

bool GuestMemory::Mapping::Shows(const SyncMemory::Region& region, dev_t device,
                                 ino_t inode) const {
  return memory_ != nullptr && address_ == region.address &&
         size_ == region.size && offset_ == region.offset &&
         device_ == device && inode_ == inode;
}

absl::Status GuestMemory::Replace(
    const std::vector<SyncMemory::Region>& regions) {
  std::vector<Mapping> old = std::exchange(mappings_, {});
  for (const SyncMemory::Region& region : regions) {
    if (absl::Status status = Add(region, old); !status.ok()) {
      mappings_.clear();
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status GuestMemory::Add(const SyncMemory::Region& region,
                              std::vector<Mapping>& old) {
  if (region.size == 0 || region.address + region.size < region.address) {
    return Refuse(region, "it is empty, or wraps");
  }
  for (const Mapping& other : mappings_) {
    if (region.address < other.end() &&
        other.address() < region.address + region.size) {
      return Refuse(region, "it overlaps another");
    }
  }
  struct stat file = {};
  if (fstat(region.file.get(), &file) != 0) {
    return absl::ErrnoToStatus(errno, "guest memory: fstat");
  }
  const int seals = fcntl(region.file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return Refuse(region,
                  "its file may shrink: memory-backend-memfd with seal=on is "
                  "needed");
  }
  const auto file_size = static_cast<uint64_t>(file.st_size);
  if (region.offset > file_size || region.size > file_size - region.offset) {
    return Refuse(region, "it goes beyond its file");
  }
  for (Mapping& mapping : old) {
    if (mapping.Shows(region, file.st_dev, file.st_ino)) {
      mappings_.push_back(std::move(mapping));
      return absl::OkStatus();
    }
  }
  void* const memory =
      mmap(nullptr, region.size, PROT_READ | PROT_WRITE, MAP_SHARED,
           region.file.get(), static_cast<off_t>(region.offset));
  if (memory == MAP_FAILED) {
    return absl::ErrnoToStatus(errno, "guest memory: mmap");
  }
  mappings_.emplace_back(region, static_cast<std::byte*>(memory), file.st_dev,
                         file.st_ino);
  return absl::OkStatus();
}

bool GuestMemory::Read(uint64_t address, std::span<std::byte> into) const {
  std::byte* out = into.data();
  return ForEachPiece(address, into.size(),
                      [&out](const std::byte* memory, size_t size) {
                        std::memcpy(out, memory, size);
                        out += size;
                      });
}

bool GuestMemory::Write(uint64_t address, std::span<const std::byte> from) {
  const std::byte* in = from.data();
  return ForEachPiece(
      address, from.size(), [&in, &address](std::byte* memory, size_t size) {
        const size_t last = LastWord(address, size);
        std::memcpy(memory, in, size - last);
        std::atomic_thread_fence(std::memory_order_release);
        std::memcpy(memory + (size - last), in + (size - last), last);
        in += size;
        address += size;
      });
}

template <class Copy>
bool GuestMemory::ForEachPiece(uint64_t address, size_t size, Copy copy) const {
  if (address + size < address) return false;
  const uint64_t end = address + size;
  for (uint64_t at = address; at < end;) {
    const Mapping* const mapping = Find(at);
    if (mapping == nullptr) return false;
    at = std::min(end, mapping->end());
  }
  for (uint64_t at = address; at < end;) {
    const Mapping* const mapping = Find(at);
    const uint64_t piece_end = std::min(end, mapping->end());
    copy(mapping->At(at), static_cast<size_t>(piece_end - at));
    at = piece_end;
  }
  return true;
}

const GuestMemory::Mapping* GuestMemory::Find(uint64_t address) const {
  for (const Mapping& mapping : mappings_) {
    if (address >= mapping.address() && address < mapping.end()) {
      return &mapping;
    }
  }
  return nullptr;
}

}  // namespace ibemu::hca::remote
