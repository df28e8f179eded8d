#include "hca/bus/physical_memory.h"

#include <fcntl.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ibemu::hca {
namespace {

constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kFrame = (uint64_t{1} << 55) - 1;

}  // namespace

absl::StatusOr<PageMap> PageMap::Open(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.valid()) return PageMap(path, std::move(file));
  return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
}

absl::StatusOr<uint64_t> PageMap::Find(const void* page) const {
  uint64_t entry = 0;
  const uint64_t number = reinterpret_cast<uint64_t>(page) / kPageSize;
  if (pread(file_.get(), &entry, sizeof entry,
            static_cast<off_t>(number * sizeof entry)) != sizeof entry ||
      (entry & kPresent) == 0) {
    return absl::UnavailableError(
        absl::StrCat(path_, ": a locked page is not in memory"));
  }
  if ((entry & kFrame) == 0) {
    return absl::PermissionDeniedError(absl::StrCat(
        path_,
        ": Linux tells physical addresses to CAP_SYS_ADMIN alone: run "
        "as root, or use VFIO"));
  }
  return (entry & kFrame) * kPageSize;
}

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
