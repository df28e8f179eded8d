#include "cli/device_plugin/shown_devices.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "launch/mount_plan.h"

namespace ibemu::cli {
namespace {

// Appends those of a class of devices whose names begin with one of `prefixes`.
// A daemon's view may lack a class.
absl::Status AddClass(const std::string& directory,
                      std::initializer_list<const char*> prefixes,
                      std::vector<std::string>& names) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (std::ranges::any_of(prefixes, [&](const char* prefix) {
          return name.starts_with(prefix);
        })) {
      names.push_back(name);
    }
  }
  if (!error || error == std::errc::no_such_file_or_directory) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat(
      directory, ": the daemon that served it does not: ", error.message()));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ShownDevices(
    const std::string& mount) {
  std::vector<std::string> names;
  const std::string classes = absl::StrCat(mount, launch::kSysClass, "/");
  IBEMU_RETURN_IF_ERROR(AddClass(absl::StrCat(classes, "infiniband_mad"),
                                 {"umad", "issm"}, names));
  IBEMU_RETURN_IF_ERROR(
      AddClass(absl::StrCat(classes, "infiniband_verbs"), {"uverbs"}, names));
  if (names.empty()) {
    return absl::NotFoundError(
        absl::StrCat(mount,
                     ": no daemon shows devices to this machine: \"ibemud "
                     "--front-end=cuse\" does"));
  }
  IBEMU_RETURN_IF_ERROR(
      AddClass(absl::StrCat(classes, "misc"), {"rdma_cm"}, names));
  std::ranges::sort(names);
  return names;
}

}  // namespace ibemu::cli
