// Files that ask the device at each read.
#ifndef IBEMU_SYSFS_LIVE_H_
#define IBEMU_SYSFS_LIVE_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "sysfs/entries.h"
#include "sysfs/view.h"

namespace ibemu::sysfs {

inline absl::Status CheckPresent(const ViewDevice& device) {
  if (!device.host->removed()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(device.name, " is gone"));
}

// `line` is called while the device is there and gives the text without its
// newline.
inline Entry& AddLive(Entry& directory, std::string_view name,
                      const ViewDevice& device,
                      std::function<absl::StatusOr<std::string>()> line) {
  return AddText(
      directory, name,
      [&device, line = std::move(line)]() -> absl::StatusOr<std::string> {
        if (absl::Status status = CheckPresent(device); !status.ok()) {
          return status;
        }
        absl::StatusOr<std::string> text = line();
        if (text.ok()) absl::StrAppend(&*text, "\n");
        return text;
      });
}

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_LIVE_H_
