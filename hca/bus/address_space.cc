#include "hca/bus/address_space.h"

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ibemu::hca {

AddressSpace::AddressSpace(const std::vector<Range>& usable) {
  for (const Range& range : usable) {
    const uint64_t first = std::max<uint64_t>(
        range.start / kPageSize + (range.start % kPageSize != 0 ? 1 : 0), 1);
    // The page after the last whole one.  It is counted in pages because 2^64,
    // as a number of bytes, would not fit.
    const uint64_t end = range.last / kPageSize +
                         (range.last % kPageSize == kPageSize - 1 ? 1 : 0);
    if (end > first) pages_.Add(first, end - first);
  }
}

absl::StatusOr<uint64_t> AddressSpace::Take(uint64_t size, uint64_t alignment) {
  assert(alignment >= kPageSize);
  if (size != 0) {
    if (const auto page = pages_.Take(RoundUpToPage(size) / kPageSize,
                                      alignment / kPageSize)) {
      return *page * kPageSize;
    }
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "no room for ", size, " bytes among the function's bus addresses"));
}

void AddressSpace::Return(uint64_t start, uint64_t size) {
  pages_.Return(start / kPageSize, RoundUpToPage(size) / kPageSize);
}

}  // namespace ibemu::hca
