// PageMap: the physical addresses of this process's pages.
#ifndef IBEMU_HCA_BUS_PAGE_MAP_H_
#define IBEMU_HCA_BUS_PAGE_MAP_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::hca {

// A PageMap knows the physical addresses of this process's pages, from
// /proc/PID/pagemap (Linux, admin-guide/mm/pagemap.rst).
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

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_PAGE_MAP_H_
