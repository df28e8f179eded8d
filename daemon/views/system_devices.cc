#include "daemon/views/system_devices.h"

#include <fcntl.h>

#include <cerrno>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cuse/fuse/adapter_identity.h"
#include "cuse/umad/issm_file.h"
#include "cuse/umad/umad_file.h"
#include "cuse/uverbs/system_uverbs_file.h"
#include "cuse/uverbs/uverbs_file.h"
#include "launch/cuse_nodes.h"
#include "spdlog/spdlog.h"

namespace ibemu::daemon {
namespace {

using cuse::CuseDevice, cuse::File;

CuseDevice::Opener MadOpener(std::shared_ptr<mad::Host> host,
                             const sysfs::MadNode& node, cuse::RingSet& rings) {
  return [host = std::move(host), port = node.port, is_issm = node.is_issm,
          &rings](int /*flags*/) -> std::unique_ptr<File> {
    if (is_issm) return std::make_unique<cuse::IssmFile>(host, port);
    return std::make_unique<cuse::UmadFile>(host, port, &rings);
  };
}

CuseDevice::Opener UverbsOpener(std::shared_ptr<mad::Host> host,
                                verbs::Provider& provider,
                                verbs::AdapterIdentity identity, Timers& timers,
                                WorkerPool& workers,
                                std::shared_ptr<cuse::PinnedPages> pinned,
                                cuse::RingSet& rings,
                                cuse::UverbsFiles& uverbs_files) {
  return [host = std::move(host), &provider, identity, &timers, &workers,
          &rings, &uverbs_files, pinned = std::move(pinned),
          offers = std::make_shared<cuse::UverbsOffers>()](
             int flags) -> std::unique_ptr<File> {
    // No command can be written there, so it is good for events alone.
    if ((flags & O_ACCMODE) == O_RDONLY) {
      return std::make_unique<cuse::UverbsEventFile>(
          offers, /*supervisor=*/std::nullopt);
    }
    return std::make_unique<cuse::SystemUverbsFile>(
        std::make_unique<cuse::UverbsFile>(host, provider, identity, timers,
                                           workers, offers, pinned, &rings,
                                           &uverbs_files),
        workers);
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

SystemDevices::SystemDevices(Loop& loop, WorkerPool& workers,
                             cuse::RingSet& rings,
                             cuse::UverbsFiles& uverbs_files, int major_number,
                             sysfs::Profile profile, ProviderOf provider_of,
                             cuse::CuseDevice::Opener rdma_cm)
    : loop_(loop),
      workers_(workers),
      rings_(rings),
      uverbs_files_(uverbs_files),
      major_number_(major_number),
      identity_(cuse::AdapterIdentityOf(profile)),
      provider_of_(std::move(provider_of)),
      rdma_cm_(std::move(rdma_cm)) {
  launch::RemoveHiddenNodes();
}

SystemDevices::~SystemDevices() {
  while (!devices_.empty()) End(devices_.begin());
}

absl::Status SystemDevices::Follow(sysfs::View& view) {
  std::set<std::string> wanted;
  absl::Status status;
  for (const Node& node : NodesOf(view)) {
    wanted.insert(node.path);
    status.Update(Show(node));
    if (const auto made = devices_.find(node.path); made != devices_.end()) {
      view.numbers[node.name] = made->second.number;
    }
  }
  for (auto device = devices_.begin(); device != devices_.end();) {
    const auto next = std::next(device);
    if (!wanted.contains(device->first)) TakeAway(device);
    device = next;
  }
  return status;
}

std::vector<SystemDevices::Node> SystemDevices::NodesOf(
    const sysfs::View& view) const {
  std::vector<Node> nodes;
  for (const sysfs::ViewDevice& shown : view.devices) AddNodesOf(shown, nodes);
  if (view.rdma_cm) {
    nodes.push_back({sysfs::kRdmaCmNode,
                     absl::StrCat("infiniband/", sysfs::kRdmaCmNode),
                     sysfs::DeviceNumber(), nullptr, rdma_cm_});
  }
  return nodes;
}

void SystemDevices::AddNodesOf(const sysfs::ViewDevice& shown,
                               std::vector<Node>& nodes) const {
  const auto add = [&](const std::string& name, int minor_number,
                       CuseDevice::Opener opener) {
    nodes.push_back({name, absl::StrCat("infiniband/", name),
                     NumberFor(minor_number), shown.host, std::move(opener)});
  };
  for (const sysfs::MadNode& node : MadNodesOf(shown)) {
    add(node.name, node.minor_number, MadOpener(shown.host, node, rings_));
  }
  if (shown.uverbs) {
    add(absl::StrCat("uverbs", *shown.uverbs),
        sysfs::kFirstUverbs + *shown.uverbs,
        UverbsOpener(shown.host, provider_of_(shown.slot), identity_, loop_,
                     workers_, pinned_, rings_, uverbs_files_));
  }
}

sysfs::DeviceNumber SystemDevices::NumberFor(int minor_number) const {
  if (major_number_ == 0) return {};
  return {major_number_, minor_number};
}

absl::Status SystemDevices::Show(const Node& node) {
  const auto same = devices_.find(node.path);
  if (same == devices_.end()) return Make(node);
  Shown& shown = same->second;
  if (shown.host.lock() == node.host) return absl::OkStatus();
  shown.host = node.host;
  shown.device->SetOpener(node.opener);
  return std::exchange(shown.hidden, false) ? launch::ShowNode(node.path)
                                            : absl::OkStatus();
}

absl::Status SystemDevices::Make(const Node& node) {
  IBEMU_ASSIGN_OR_RETURN(UniqueFd cuse, OpenCuse());
  const std::string& name = node.path;
  auto device = std::make_unique<cuse::CuseDevice>(
      loop_, workers_,
      cuse::CuseDevice::Identity{
          name, static_cast<unsigned>(node.number.major_number),
          static_cast<unsigned>(node.number.minor_number)},
      node.opener);
  const absl::Status served = device->Serve(std::move(cuse));
  if (absl::IsAlreadyExists(served))
    return launch::WhyRefused(name, node.number.major_number);
  IBEMU_RETURN_IF_ERROR(served);
  const int fd = device->fd();
  devices_.emplace(name,
                   Shown{std::move(device), node.host, launch::NumberOf(name)});
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
  shown.device->SetOpener([](int) { return nullptr; });
  if (const absl::Status hidden = launch::HideNode(name); !hidden.ok()) {
    spdlog::error("{}", std::string(hidden.message()));
  }
}

void SystemDevices::End(Devices::iterator device) {
  loop_.Forget(device->second.device->fd());
  if (device->second.hidden) launch::RemoveHiddenNode(device->first);
  devices_.erase(device);
}

}  // namespace ibemu::daemon
