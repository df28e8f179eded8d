// PhysicalRun: memory of this process with physical addresses that are known
// and do not change.
#ifndef IBEMU_HCA_BUS_PHYSICAL_RUN_H_
#define IBEMU_HCA_BUS_PHYSICAL_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "hca/bus/address_space.h"
#include "hca/bus/page_map.h"

namespace ibemu::hca {

// A PhysicalRun allocates parts of a run of pages that are contiguous in
// physical memory, too.
class PhysicalRun {
 public:
  static constexpr size_t kHugePage = size_t{2} << 20;

  // Allocates a run of one huge page.
  //
  // Errors: ResourceExhausted if there is none left; those of PageMap::Find().
  static absl::StatusOr<std::shared_ptr<PhysicalRun>> Make(
      const PageMap& pages);
  ~PhysicalRun();
  PhysicalRun(const PhysicalRun&) = delete;
  PhysicalRun& operator=(const PhysicalRun&) = delete;

  // Takes `size` zeroed bytes, in whole pages.  Errors: ResourceExhausted.
  absl::StatusOr<std::span<std::byte>> Take(size_t size);
  void Return(std::span<std::byte> memory);
  uint64_t AddressOf(const std::byte* place) const {
    return physical_ + static_cast<uint64_t>(place - start_);
  }

 private:
  PhysicalRun(std::byte* start, uint64_t physical);

  std::byte* const start_;
  const uint64_t physical_;
  AddressSpace free_;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_PHYSICAL_RUN_H_
