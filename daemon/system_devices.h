// The character devices of --front-end=cuse.
#ifndef IBEMU_DAEMON_SYSTEM_DEVICES_H_
#define IBEMU_DAEMON_SYSTEM_DEVICES_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "cuse/cuse_device.h"
#include "cuse/worker_pool.h"
#include "daemon/loop.h"
#include "sysfs/view.h"

namespace ibemu::daemon {

// /dev/cuse, where each device begins.
//
// Errors: NotFound, PermissionDenied, each with the cure.
absl::StatusOr<UniqueFd> OpenCuse();

// One device for each umadN and issmN of a view, as Linux numbers them.
class SystemDevices {
 public:
  // `loop` and `workers` must outlive this.
  SystemDevices(Loop& loop, cuse::WorkerPool& workers);
  ~SystemDevices();
  SystemDevices(const SystemDevices&) = delete;
  SystemDevices& operator=(const SystemDevices&) = delete;

  // Makes the devices that `view` has and this has not, and ends those that it
  // has no more.
  //
  // Errors: the first of OpenCuse()'s and CuseDevice::Serve()'s; it does what
  // it can nevertheless.
  absl::Status Follow(const sysfs::View& view);

 private:
  // What a device stands for: another adapter may get its name later.
  struct Shown {
    std::weak_ptr<mad::Host> host;
    std::unique_ptr<cuse::CuseDevice> device;
  };
  using Devices = std::map<std::string, Shown>;  // by name below /dev

  absl::Status Make(const std::shared_ptr<mad::Host>& host, int port,
                    int number, bool is_issm);
  void End(Devices::iterator device);

  Loop& loop_;
  cuse::WorkerPool& workers_;
  Devices devices_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SYSTEM_DEVICES_H_
