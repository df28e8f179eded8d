#include "hca/bus/physical_run.h"

#include <linux/mman.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/status_macros.h"

namespace ibemu::hca {

absl::StatusOr<std::shared_ptr<PhysicalRun>> PhysicalRun::Make(
    const PageMap& pages) {
  // Without MAP_HUGE_2MB the pages have the machine's default size, which may
  // be 1 GiB.
  void* const start = mmap(nullptr, kHugePage, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB |
                               MAP_HUGE_2MB | MAP_LOCKED | MAP_POPULATE,
                           -1, 0);
  if (start == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        "access=sysfs needs huge pages of 2 MiB, and there are too few: \"echo "
        "64 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages\"");
  }
  madvise(start, kHugePage, MADV_DONTFORK);
  const auto physical = pages.Find(start);
  if (!physical.ok()) {
    munmap(start, kHugePage);
    return physical.status();
  }
  return std::shared_ptr<PhysicalRun>(
      new PhysicalRun(static_cast<std::byte*>(start), *physical));
}

// `free_` is numbered by virtual addresses, because an AddressSpace never gives
// out page 0.
PhysicalRun::PhysicalRun(std::byte* start, uint64_t physical)
    : start_(start),
      physical_(physical),
      free_({{.start = reinterpret_cast<uint64_t>(start),
              .last = reinterpret_cast<uint64_t>(start) + kHugePage - 1}}) {}

PhysicalRun::~PhysicalRun() { munmap(start_, kHugePage); }

absl::StatusOr<std::span<std::byte>> PhysicalRun::Take(size_t size) {
  IBEMU_ASSIGN_OR_RETURN(const uint64_t at, free_.Take(size));
  const std::span<std::byte> memory(
      start_ + (at - reinterpret_cast<uint64_t>(start_)), size);
  std::ranges::fill(memory, std::byte{0});
  return memory;
}

void PhysicalRun::Return(std::span<std::byte> memory) {
  free_.Return(reinterpret_cast<uint64_t>(memory.data()), memory.size());
}

}  // namespace ibemu::hca
