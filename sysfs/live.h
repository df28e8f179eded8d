// Files that ask the device at each read.
#ifndef IBEMU_SYSFS_LIVE_H_
#define IBEMU_SYSFS_LIVE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sysfs/entries.h"
#include "sysfs/view.h"

namespace ibemu::sysfs {

// Errors: Unavailable, the device is gone.
inline absl::Status CheckPresent(const mad::Host& host) {
  if (!host.removed()) return absl::OkStatus();
  return absl::UnavailableError("the device is gone");
}

// Adds a file that asks the device at each read.  `line` is called as long as
// the device is there, and returns the text without its newline.  The file
// keeps the host, because it may stay open longer than the device is there.
//
// Errors of the file: Unavailable, the device is gone; those of `line`.
inline Entry& AddLive(Entry& directory, std::string_view name,
                      const ViewDevice& device,
                      std::function<absl::StatusOr<std::string>()> line) {
  return AddText(directory, name,
                 [host = device.host,
                  line = std::move(line)]() -> absl::StatusOr<std::string> {
                   IBEMU_RETURN_IF_ERROR(CheckPresent(*host));
                   absl::StatusOr<std::string> text = line();
                   if (text.ok()) absl::StrAppend(&*text, "\n");
                   return text;
                 });
}

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_LIVE_H_
