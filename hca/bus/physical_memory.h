// Memory of this process with physical addresses that are known and do not
// change.
#ifndef IBEMU_HCA_BUS_PHYSICAL_MEMORY_H_
#define IBEMU_HCA_BUS_PHYSICAL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "hca/bus/address_space.h"

namespace ibemu::hca {

// The physical addresses of this process's pages, from /proc/PID/pagemap
// (Linux, admin-guide/mm/pagemap.rst).
class PageMap {
 public:
  // Errors: Unavailable if the file can't be opened.
  static absl::StatusOr<PageMap> Open(
      const std::string& path = "/proc/self/pagemap");

  // Returns the physical address of `page`, which must be locked.
  //
  // Errors: PermissionDenied if the process lacks CAP_SYS_ADMIN, without which
  // Linux shows no addresses; Unavailable if the page is not in memory.
  absl::StatusOr<uint64_t> Find(const void* page) const;

 private:
  PageMap(std::string path, UniqueFd file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  UniqueFd file_;
};

// An allocator of parts of a run of pages that are contiguous in physical
// memory, too.
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

#endif  // IBEMU_HCA_BUS_PHYSICAL_MEMORY_H_
