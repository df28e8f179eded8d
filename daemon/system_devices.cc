#include "daemon/system_devices.h"

#include <fcntl.h>

#include <cerrno>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cuse/issm_file.h"
#include "cuse/umad_file.h"

namespace ibemu::daemon {
namespace {

std::string NameOf(int number, bool is_issm) {
  return absl::StrCat("infiniband/", is_issm ? "issm" : "umad", number);
}

}  // namespace

absl::StatusOr<UniqueFd> OpenCuse() {
  UniqueFd cuse(open("/dev/cuse", O_RDWR | O_CLOEXEC));
  if (cuse.valid()) return cuse;
  switch (errno) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return absl::NotFoundError(
          "/dev/cuse is missing: load it with \"modprobe cuse\" (as root); "
          "without it, \"ibemu run\" shows devices to single programs");
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(
          "/dev/cuse may not be opened: devices for the whole machine need "
          "root; \"ibemu run\" needs none");
    default:
      return absl::ErrnoToStatus(errno, "/dev/cuse");
  }
}

SystemDevices::SystemDevices(Loop& loop, cuse::WorkerPool& workers)
    : loop_(loop), workers_(workers) {}

SystemDevices::~SystemDevices() {
  while (!devices_.empty()) End(devices_.begin());
}

absl::Status SystemDevices::Follow(const sysfs::View& view) {
  std::set<std::string> wanted;
  absl::Status status;
  for (const sysfs::ViewDevice& shown : view.devices) {
    const int first = shown.host->device().first_port();
    for (size_t i = 0; i < shown.umads.size(); ++i) {
      for (const bool is_issm : {false, true}) {
        wanted.insert(NameOf(shown.umads[i], is_issm));
        status.Update(Make(shown.host, first + static_cast<int>(i),
                           shown.umads[i], is_issm));
      }
    }
  }
  for (auto device = devices_.begin(); device != devices_.end();) {
    const auto next = std::next(device);
    if (!wanted.contains(device->first)) End(device);
    device = next;
  }
  return status;
}

absl::Status SystemDevices::Make(const std::shared_ptr<mad::Host>& host,
                                 int port, int number, bool is_issm) {
  const std::string name = NameOf(number, is_issm);
  if (const auto same = devices_.find(name); same != devices_.end()) {
    if (same->second.host.lock() == host) return absl::OkStatus();
    End(same);
  }
  IBEMU_ASSIGN_OR_RETURN(UniqueFd cuse, OpenCuse());
  const auto open = [host, port, is_issm]() -> std::unique_ptr<cuse::File> {
    if (is_issm) return std::make_unique<cuse::IssmFile>(host, port);
    return std::make_unique<cuse::UmadFile>(host, port);
  };
  const unsigned first = is_issm ? sysfs::kFirstIssm : sysfs::kFirstUmad;
  auto device = std::make_unique<cuse::CuseDevice>(
      loop_, workers_,
      cuse::CuseDevice::Identity{name, sysfs::kMajor,
                                 first + static_cast<unsigned>(number)},
      open);
  IBEMU_RETURN_IF_ERROR(device->Serve(std::move(cuse)));
  const auto made =
      devices_.insert_or_assign(name, Shown{host, std::move(device)}).first;
  return loop_.WatchEagerly(made->second.device->fd(), [this, name] {
    const auto self = devices_.find(name);
    const cuse::FuseResult result = self->second.device->HandleOne();
    if (result == cuse::FuseResult::kEnded) End(self);
    return result == cuse::FuseResult::kHandled;
  });
}

void SystemDevices::End(Devices::iterator device) {
  loop_.Forget(device->second.device->fd());
  devices_.erase(device);
}

}  // namespace ibemu::daemon
