#include "daemon/system_devices.h"

#include <fcntl.h>

#include <cerrno>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cuse/issm_file.h"
#include "cuse/umad_file.h"
#include "daemon/cuse_nodes.h"
#include "spdlog/spdlog.h"

namespace ibemu::daemon {
namespace {

std::string NameOf(const sysfs::MadNode& node) {
  return absl::StrCat("infiniband/", node.name);
}

cuse::CuseDevice::Opener OpenerOf(std::shared_ptr<mad::Host> host, int port,
                                  bool is_issm) {
  return
      [host = std::move(host), port, is_issm]() -> std::unique_ptr<cuse::File> {
        if (is_issm) return std::make_unique<cuse::IssmFile>(host, port);
        return std::make_unique<cuse::UmadFile>(host, port);
      };
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

SystemDevices::SystemDevices(Loop& loop, cuse::WorkerPool& workers,
                             int major_number)
    : loop_(loop), workers_(workers), major_number_(major_number) {
  RemoveHiddenNodes();
}

SystemDevices::~SystemDevices() {
  while (!devices_.empty()) End(devices_.begin());
}

absl::Status SystemDevices::Follow(sysfs::View& view) {
  std::set<std::string> wanted;
  absl::Status status;
  for (const sysfs::ViewDevice& shown : view.devices) {
    for (const sysfs::MadNode& node : MadNodesOf(shown)) {
      const std::string name = NameOf(node);
      wanted.insert(name);
      status.Update(Show(shown.host, node));
      if (const auto made = devices_.find(name); made != devices_.end()) {
        view.numbers[node.name] = made->second.number;
      }
    }
  }
  for (auto device = devices_.begin(); device != devices_.end();) {
    const auto next = std::next(device);
    if (!wanted.contains(device->first)) TakeAway(device);
    device = next;
  }
  return status;
}

absl::Status SystemDevices::Show(const std::shared_ptr<mad::Host>& host,
                                 const sysfs::MadNode& node) {
  const std::string name = NameOf(node);
  const auto same = devices_.find(name);
  if (same == devices_.end()) return Make(host, node);
  Shown& shown = same->second;
  if (shown.host.lock() == host) return absl::OkStatus();
  shown.host = host;
  shown.device->SetOpener(OpenerOf(host, node.port, node.is_issm));
  return std::exchange(shown.hidden, false) ? ShowNode(name) : absl::OkStatus();
}

absl::Status SystemDevices::Make(const std::shared_ptr<mad::Host>& host,
                                 const sysfs::MadNode& node) {
  IBEMU_ASSIGN_OR_RETURN(UniqueFd cuse, OpenCuse());
  const std::string name = NameOf(node);
  auto device = std::make_unique<cuse::CuseDevice>(
      loop_, workers_,
      cuse::CuseDevice::Identity{
          name, static_cast<unsigned>(major_number_),
          static_cast<unsigned>(major_number_ == 0 ? 0 : node.minor_number)},
      OpenerOf(host, node.port, node.is_issm));
  const absl::Status served = device->Serve(std::move(cuse));
  if (absl::IsAlreadyExists(served)) return WhyRefused(name, major_number_);
  IBEMU_RETURN_IF_ERROR(served);
  const int fd = device->fd();
  devices_.emplace(name, Shown{std::move(device), host, NumberOf(name)});
  return loop_.WatchEagerly(fd, [this, name] { return Handle(name); });
}

bool SystemDevices::Handle(const std::string& name) {
  const auto self = devices_.find(name);
  const Shown& shown = self->second;
  const cuse::FuseResult result = shown.device->HandleOne();
  if (result == cuse::FuseResult::kEnded ||
      (shown.hidden && !shown.device->in_use())) {
    End(self);
  }
  return result == cuse::FuseResult::kHandled;
}

void SystemDevices::TakeAway(Devices::iterator device) {
  auto& [name, shown] = *device;
  if (shown.hidden) return;
  if (!shown.device->in_use()) return End(device);
  shown.hidden = true;
  shown.host.reset();
  shown.device->SetOpener([] { return nullptr; });
  if (const absl::Status hidden = HideNode(name); !hidden.ok()) {
    spdlog::error("{}", std::string(hidden.message()));
  }
}

void SystemDevices::End(Devices::iterator device) {
  loop_.Forget(device->second.device->fd());
  if (device->second.hidden) RemoveHiddenNode(device->first);
  devices_.erase(device);
}

}  // namespace ibemu::daemon
