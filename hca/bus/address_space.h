// The bus addresses that one function may reach.
#ifndef IBEMU_HCA_BUS_ADDRESS_SPACE_H_
#define IBEMU_HCA_BUS_ADDRESS_SPACE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hca/bus/range_pool.h"

namespace ibemu::hca {

inline constexpr uint64_t kPageSize = 4096;

constexpr uint64_t RoundUpToPage(uint64_t size) {
  return (size + kPageSize - 1) & ~(kPageSize - 1);
}

// Gives out ranges of addresses, in whole pages, lowest first.
class AddressSpace {
 public:
  struct Range {
    uint64_t start = 0;
    uint64_t last = 0;  // included
  };

  // `usable`: what the IOMMU translates, ascending; page 0 is never given out.
  explicit AddressSpace(const std::vector<Range>& usable);

  // The first of `size` bytes, aligned to `alignment` (a power of two, at least
  // a page).
  //
  // Errors: ResourceExhausted (ENOMEM).
  absl::StatusOr<uint64_t> Take(uint64_t size, uint64_t alignment = kPageSize);

  // `start` is of Take(), `size` as it was then.
  void Return(uint64_t start, uint64_t size);

 private:
  RangePool pages_;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_ADDRESS_SPACE_H_
