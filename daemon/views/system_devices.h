// The character devices of --front-end=cuse.
#ifndef IBEMU_DAEMON_VIEWS_SYSTEM_DEVICES_H_
#define IBEMU_DAEMON_VIEWS_SYSTEM_DEVICES_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "base/worker_pool.h"
#include "cuse/client/pinned_pages.h"
#include "cuse/fuse/cuse_device.h"
#include "cuse/rings/ring_set.h"
#include "cuse/uverbs/uverbs_files.h"
#include "loop/loop.h"
#include "sysfs/view.h"
#include "verbs/adapter_identity.h"
#include "verbs/provider.h"

namespace ibemu::daemon {

// /dev/cuse, where each device begins.
//
// Errors: NotFound, PermissionDenied, each with the cure.
absl::StatusOr<UniqueFd> OpenCuse();

// One device for each umadN, issmN and uverbsN of a view, and rdma_cm.  A
// device that the view has no more has no node either; those who had it open
// keep it until they close it.
class SystemDevices {
 public:
  // The verbs of the adapter in a slot of the view.
  using ProviderOf = std::function<verbs::Provider&(int slot)>;

  // `major_number`: of every device but rdma_cm, with Linux's minor numbers; 0:
  // the kernel chooses both.  `profile`: the view's.  `rdma_cm`: opens rdma_cm.
  // `loop`, `workers`, `rings`, `uverbs_files` and the providers must outlive
  // this.
  SystemDevices(Loop& loop, WorkerPool& workers, cuse::RingSet& rings,
                cuse::UverbsFiles& uverbs_files, int major_number,
                sysfs::Profile profile, ProviderOf provider_of,
                cuse::CuseDevice::Opener rdma_cm);
  ~SystemDevices();
  SystemDevices(const SystemDevices&) = delete;
  SystemDevices& operator=(const SystemDevices&) = delete;

  // Makes the devices that `view` has and this has not, and takes away those
  // that it has no more.  Sets the numbers of the view.
  //
  // Errors: the first of OpenCuse()'s and CuseDevice::Serve()'s; it does what
  // it can nevertheless.
  absl::Status Follow(sysfs::View& view);

 private:
  // A device that is to be shown.
  struct Node {
    std::string name;                 // "umad0"
    std::string path;                 // below /dev
    sysfs::DeviceNumber number;       // Linux's own; 0: the kernel chooses
    std::shared_ptr<mad::Host> host;  // null: rdma_cm's
    cuse::CuseDevice::Opener opener;
  };
  struct Shown {
    std::unique_ptr<cuse::CuseDevice> device;
    // The host that it belongs to, since another adapter may get its name
    // later. Empty if it is hidden, and that of rdma_cm.
    std::weak_ptr<mad::Host> host;
    sysfs::DeviceNumber number;
    bool hidden = false;
  };
  using Devices = std::map<std::string, Shown>;  // by name below /dev

  std::vector<Node> NodesOf(const sysfs::View& view) const;
  void AddNodesOf(const sysfs::ViewDevice& shown,
                  std::vector<Node>& nodes) const;
  // The number of a device that has Linux's own `minor_number`.
  sysfs::DeviceNumber NumberFor(int minor_number) const;
  absl::Status Show(const Node& node);
  absl::Status Make(const Node& node);
  bool Handle(const std::string& name);
  void TakeAway(Devices::iterator device);
  void End(Devices::iterator device);

  Loop& loop_;
  WorkerPool& workers_;
  cuse::RingSet& rings_;
  cuse::UverbsFiles& uverbs_files_;
  const std::shared_ptr<cuse::PinnedPages> pinned_ =
      cuse::PinnedPages::OfThisMachine();
  const int major_number_;
  const verbs::AdapterIdentity identity_;
  const ProviderOf provider_of_;
  const cuse::CuseDevice::Opener rdma_cm_;
  Devices devices_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_VIEWS_SYSTEM_DEVICES_H_
