// Keys (L_Key and R_Key) of registered memory: IBA vol 1 §10.6.
#ifndef IBEMU_VERBS_PARTS_KEY_TABLE_H_
#define IBEMU_VERBS_PARTS_KEY_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "verbs/provider.h"

namespace ibemu::verbs {

// A range of a process's memory that bytes of a message come from or go to.
struct MemoryRange {
  std::shared_ptr<verbs::Memory> memory;
  uint64_t address = 0;  // in the process
  size_t size = 0;
};
using MemoryRanges = absl::InlinedVector<MemoryRange, 2>;

// A Grant is the access that a key gives: to `length` bytes of a process's
// memory, which work requests address from `address` on.
struct Grant {
  const verbs::Pd* pd = nullptr;
  std::shared_ptr<verbs::Memory> memory;
  uint64_t address = 0;
  uint64_t length = 0;
  uint32_t access = 0;  // bits: verbs::access
  uint64_t start = 0;   // in the process

  // Returns true if the bytes [first, first + size) lie within the grant.
  bool Covers(uint64_t first, uint64_t size) const {
    const uint64_t offset = first - address;
    return first >= address && offset <= length && size <= length - offset;
  }
  // Returns where the bytes [first, first + size) are in the process.  Requires
  // that the grant covers them.
  MemoryRange Locate(uint64_t first, size_t size) const {
    return {memory, start + (first - address), size};
  }
};

// A KeyTable gives out the keys of a device.  A key's number is that of a place
// in the table and, in its low byte, how often that place was used: the key of
// a region that is gone does not soon name another one.
class KeyTable {
 public:
  // A Key occupies one place of the table as long as it exists.  It gives
  // access to nothing before Open().  The table must outlive it.
  class Key {
   public:
    Key(KeyTable& table, uint32_t place);
    ~Key();
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;

    uint32_t value() const { return value_; }

    // Makes the key give access to `grant`, for as long as that exists.
    void Open(std::weak_ptr<const Grant> grant) { grant_ = std::move(grant); }

   private:
    friend class KeyTable;

    KeyTable& table_;
    const uint32_t place_;
    const uint32_t value_;
    std::weak_ptr<const Grant> grant_;
  };

  // `most` is the number of keys that may exist at a time.
  explicit KeyTable(size_t most) : most_(most) {}

  // Returns a new key.
  //
  // Errors: ResourceExhausted.
  absl::StatusOr<std::unique_ptr<Key>> Allocate();

  // Returns where the bytes [address, address + size) are that a peer's request
  // names.  `size` may be 0: then the key does not matter (IBA vol 1
  // §10.6.6.3).
  //
  // Errors: PermissionDenied if key, protection domain, bounds or rights are
  // wrong.
  absl::StatusOr<MemoryRanges> Find(uint32_t key, const verbs::Pd* pd,
                                    uint64_t address, size_t size,
                                    uint32_t access) const;

  // Returns where the SGEs `sges` of a local work request are.
  //
  // Errors: PermissionDenied, as above.
  absl::StatusOr<MemoryRanges> FindAll(std::span<const ib_uverbs_sge> sges,
                                       const verbs::Pd* pd,
                                       uint32_t access) const;

 private:
  struct Place {
    const Key* key = nullptr;
    uint32_t uses = 0;
  };

  uint32_t NextValue(uint32_t place);
  // Returns true if a region had this key.
  bool WasGiven(uint32_t key) const;
  absl::StatusOr<std::shared_ptr<const Grant>> GrantOf(uint32_t key) const;

  const size_t most_;
  size_t used_ = 0;
  std::vector<Place> places_;
  std::deque<uint32_t> free_;  // in the order of their release
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PARTS_KEY_TABLE_H_
