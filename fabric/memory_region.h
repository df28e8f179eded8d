// Registered memory, by key.
#ifndef IBEMU_FABRIC_MEMORY_REGION_H_
#define IBEMU_FABRIC_MEMORY_REGION_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

class MemoryRegion;

// Where bytes of a message are or go to.
struct MemoryRange {
  std::shared_ptr<verbs::Memory> memory;
  uint64_t address = 0;  // in the process
  size_t size = 0;
};

// Keys are a place, and in their low byte how often it was used: the key of a
// region that is gone does not soon name another one.
class KeyTable {
 public:
  explicit KeyTable(size_t most) : most_(most) {}

  // Errors: ResourceExhausted.
  absl::StatusOr<std::unique_ptr<MemoryRegion>> Register(
      const verbs::MrInit& init);

  // The bytes [address, address + size) as requests name them.  `size` may be
  // 0: then the key does not matter (IBA vol 1 §10.6.6.3).
  //
  // Errors: PermissionDenied when key, domain, bounds or rights are wrong.
  absl::StatusOr<MemoryRange> Find(uint32_t key, const verbs::Pd* pd,
                                   uint64_t address, size_t size,
                                   uint32_t access) const;

  // All pieces of a local request.
  absl::StatusOr<std::vector<MemoryRange>> FindAll(
      std::span<const ib_uverbs_sge> pieces, const verbs::Pd* pd,
      uint32_t access) const;

 private:
  friend class MemoryRegion;

  struct Slot {
    const MemoryRegion* region = nullptr;
    uint8_t uses = 0;
  };

  const size_t most_;
  size_t used_ = 0;
  std::vector<Slot> slots_;
  std::deque<uint32_t> free_;  // the one that was freed first comes first
};

class MemoryRegion final : public verbs::Mr {
 public:
  MemoryRegion(KeyTable& table, uint32_t key, verbs::MrInit init);
  ~MemoryRegion() override;
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  uint32_t lkey() const override { return key_; }
  uint32_t rkey() const override { return key_; }
  const verbs::MrInit& init() const { return init_; }

 private:
  KeyTable& table_;
  const uint32_t key_;
  const verbs::MrInit init_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_MEMORY_REGION_H_
