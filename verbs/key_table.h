// Keys of memory: IBA vol 1 §10.6.
#ifndef IBEMU_VERBS_KEY_TABLE_H_
#define IBEMU_VERBS_KEY_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "verbs/provider.h"

namespace ibemu::verbs {

// Where bytes of a message are or go to.
struct MemoryRange {
  std::shared_ptr<verbs::Memory> memory;
  uint64_t address = 0;  // in the process
  size_t size = 0;
};
using MemoryRanges = absl::InlinedVector<MemoryRange, 2>;

// What a key opens: `length` bytes of a process, which requests call `address`
// and on.
struct Grant {
  const verbs::Pd* pd = nullptr;
  std::shared_ptr<verbs::Memory> memory;
  uint64_t address = 0;
  uint64_t length = 0;
  uint32_t access = 0;  // bits: verbs::access
  // Of a window: it opens nothing without its region, and nothing to requests
  // of our own.
  std::optional<std::weak_ptr<const Grant>> region = std::nullopt;

  // In the process: in one piece from `start` on; or page by page.
  uint64_t start = 0;
  std::vector<uint64_t> pages{};
  uint8_t page_shift = 0;

  bool Covers(uint64_t first, uint64_t size) const {
    const uint64_t offset = first - address;
    return first >= address && offset <= length && size <= length - offset;
  }
  // Requires that it covers them; the parts come behind `ranges`.
  void Locate(uint64_t first, size_t size, MemoryRanges& ranges) const;
};

// A key's number is a place, and in its low byte how often that was used: the
// key of a region that is gone does not soon name another one.
class KeyTable {
 public:
  // One place, until this ends.  It opens nothing unless told to.
  class Key {
   public:
    Key(KeyTable& table, uint32_t place);
    ~Key();
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;

    uint32_t value() const { return value_; }

    // Another number: the old one opens nothing any more.
    void Renew();

    // Not longer than `grant` lives.
    void Open(std::weak_ptr<const Grant> grant) { grant_ = std::move(grant); }

   private:
    friend class KeyTable;

    KeyTable& table_;
    const uint32_t place_;
    uint32_t value_ = 0;
    std::weak_ptr<const Grant> grant_;
  };

  // `most` are given out at a time.
  explicit KeyTable(size_t most) : most_(most) {}

  // Errors: ResourceExhausted.
  absl::StatusOr<std::unique_ptr<Key>> Allocate();

  // The bytes [address, address + size) as a peer's request names them.  `size`
  // may be 0: then the key does not matter (IBA vol 1 §10.6.6.3).
  //
  // Errors: PermissionDenied when key, domain, bounds or rights are wrong.
  absl::StatusOr<MemoryRanges> Find(uint32_t key, const verbs::Pd* pd,
                                    uint64_t address, size_t size,
                                    uint32_t access) const;

  // All pieces of a request of our own.  Errors: as above.
  absl::StatusOr<MemoryRanges> FindAll(std::span<const ib_uverbs_sge> pieces,
                                       const verbs::Pd* pd,
                                       uint32_t access) const;

 private:
  struct Place {
    const Key* key = nullptr;
    uint8_t uses = 0;
  };

  uint32_t NextValue(uint32_t place);
  absl::StatusOr<std::shared_ptr<const Grant>> GrantOf(uint32_t key) const;

  const size_t most_;
  size_t used_ = 0;
  std::vector<Place> places_;
  std::deque<uint32_t> free_;  // the one that was freed first comes first
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_KEY_TABLE_H_
