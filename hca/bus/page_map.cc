#include "hca/bus/page_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "hca/bus/address_space.h"

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

}  // namespace ibemu::hca
