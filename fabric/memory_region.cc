#include "fabric/memory_region.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace ibemu::fabric {
namespace {

constexpr int kUseBits = 8;

}  // namespace

absl::StatusOr<std::unique_ptr<MemoryRegion>> KeyTable::Register(
    const verbs::MrInit& init) {
  if (used_ == most_) {
    return absl::ResourceExhaustedError("the device has no more regions");
  }
  // Keys rotate over a few places even if one region at a time is in use.
  constexpr size_t kSpare = 16;
  uint32_t place = 0;
  if (free_.size() < kSpare) {
    place = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    place = free_.front();
    free_.pop_front();
  }
  ++used_;
  const uint32_t key = place << kUseBits | ++slots_[place].uses;
  auto region = std::make_unique<MemoryRegion>(*this, key, init);
  slots_[place].region = region.get();
  return region;
}

absl::StatusOr<MemoryRange> KeyTable::Find(uint32_t key, const verbs::Pd* pd,
                                           uint64_t address, size_t size,
                                           uint32_t access) const {
  if (size == 0) return MemoryRange{};
  const size_t place = key >> kUseBits;
  const MemoryRegion* const region =
      place < slots_.size() ? slots_[place].region : nullptr;
  if (region == nullptr || region->lkey() != key) {
    return absl::PermissionDeniedError(absl::StrFormat("no key %#x", key));
  }
  const verbs::MrInit& init = region->init();
  if (init.pd != pd || (access & ~init.access) != 0) {
    return absl::PermissionDeniedError("another domain, or no such right");
  }
  const uint64_t offset = address - init.address;
  if (address < init.address || offset > init.length ||
      size > init.length - offset) {
    return absl::PermissionDeniedError("out of the region's bounds");
  }
  return MemoryRange{init.memory, init.start + offset, size};
}

absl::StatusOr<std::vector<MemoryRange>> KeyTable::FindAll(
    std::span<const ib_uverbs_sge> pieces, const verbs::Pd* pd,
    uint32_t access) const {
  std::vector<MemoryRange> ranges;
  ranges.reserve(pieces.size());
  for (const ib_uverbs_sge& piece : pieces) {
    if (piece.length == 0) continue;
    IBEMU_ASSIGN_OR_RETURN(MemoryRange range, Find(piece.lkey, pd, piece.addr,
                                                   piece.length, access));
    ranges.push_back(std::move(range));
  }
  return ranges;
}

MemoryRegion::MemoryRegion(KeyTable& table, uint32_t key, verbs::MrInit init)
    : table_(table), key_(key), init_(std::move(init)) {}

MemoryRegion::~MemoryRegion() {
  const uint32_t place = key_ >> kUseBits;
  table_.slots_[place].region = nullptr;
  table_.free_.push_back(place);
  --table_.used_;
}

}  // namespace ibemu::fabric
