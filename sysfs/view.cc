#include "sysfs/view.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"

namespace ibemu::sysfs {
namespace {

absl::Status CheckFormat(std::string_view format, size_t hosts) {
  const std::string shown = absl::StrFormat("device name \"%s\"", format);
  if (format.empty() || format == "." || format == "..") {
    return absl::InvalidArgumentError(absl::StrCat(shown, " is no file name"));
  }
  if (format.find('/') != format.npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, " holds a slash: it becomes a file name"));
  }
  const auto percents = std::count(format.begin(), format.end(), '%');
  if (percents > 1 || (percents == 1 && format.find("%d") == format.npos)) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, ": its only percent sign may be one %d"));
  }
  if (percents == 0 && hosts > 1) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s is one name for %d devices: add %%d for their number", shown,
        hosts));
  }
  return absl::OkStatus();
}

absl::Status CheckName(std::string_view name) {
  if (name.size() <= kMaxDeviceName) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "device name \"%s\" has %d characters: libibumad has room for %d", name,
      name.size(), kMaxDeviceName));
}

}  // namespace

absl::StatusOr<View> MakeView(std::vector<std::shared_ptr<mad::Host>> hosts,
                              std::string_view name_format, Profile profile) {
  if (hosts.size() > kMaxViewDevices) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%d devices asked for: libibumad sees at most %d",
                        hosts.size(), kMaxViewDevices));
  }
  IBEMU_RETURN_IF_ERROR(CheckFormat(name_format, hosts.size()));

  View view;
  view.profile = profile;
  view.cpu_count =
      static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  int umads = 0;
  for (auto& host : hosts) {
    ViewDevice device;
    device.name = absl::StrReplaceAll(
        std::string(name_format), {{"%d", absl::StrCat(view.devices.size())}});
    IBEMU_RETURN_IF_ERROR(CheckName(device.name));
    const mad::Device& ports = host->device();
    device.first_umad = umads;
    umads += ports.last_port() - ports.first_port() + 1;
    device.host = std::move(host);
    view.devices.push_back(std::move(device));
  }
  if (umads > kMaxViewPorts) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("the devices have %d ports: libibumad sees at most %d",
                        umads, kMaxViewPorts));
  }
  return view;
}

}  // namespace ibemu::sysfs
