// AddressSpace: the bus addresses that one PCI function may reach.
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

// An allocator of bus addresses, in whole pages, lowest first.
class AddressSpace {
 public:
  struct Range {
    uint64_t start = 0;
    uint64_t last = 0;  // inclusive
  };

  // `usable`: the ranges that the IOMMU translates, ascending.  Page 0 is never
  // given out.
  explicit AddressSpace(const std::vector<Range>& usable);

  // Takes the lowest free range of `size` bytes that is aligned to `alignment`
  // (a power of two, at least a page), and returns its start.
  //
  // Errors: ResourceExhausted (ENOMEM), also for a size of 0.
  absl::StatusOr<uint64_t> Take(uint64_t size, uint64_t alignment = kPageSize);

  // Returns a range that Take() gave out, with the `size` it was taken with.
  void Return(uint64_t start, uint64_t size);

 private:
  RangePool pages_;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_ADDRESS_SPACE_H_
