// The service manager (systemd) that started this process, if one did.
#ifndef IBEMU_LAUNCH_SYSTEMD_SERVICE_MANAGER_H_
#define IBEMU_LAUNCH_SYSTEMD_SERVICE_MANAGER_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"

namespace ibemu::launch {

// Names of descriptors, as packaging/systemd gives them.
inline constexpr char kControlName[] = "control";  // a socket that listens
inline constexpr char kFuseName[] = "sysfs";       // what is at kSystemMount

// The protocols of sd_listen_fds(3), sd_notify(3) and sd_watchdog_enabled(3).
// Without a service manager everything said is said to nobody.
class ServiceManager {
 public:
  // Takes what the environment promises.  Call once, before threads start.
  ServiceManager();

  // A descriptor that was passed under `name` (FileDescriptorName=, FDNAME=);
  // not valid when there is none.
  UniqueFd Take(const std::string& name);

  // How often it wants to hear Alive(), with room for a late one.
  std::optional<absl::Duration> heartbeat() const { return heartbeat_; }

  void Ready(std::string_view status) const;
  void Stopping() const;
  void Alive() const;

  // Leaves a copy of `fd` with it, for the next process that it starts in this
  // unit (FDSTORE=1), and returns when it has that.
  //
  // Errors: FailedPrecondition when nobody stores descriptors for us.
  static absl::Status Store(int fd, const std::string& name);
  // Lets it give the copy up: only ours counts then.
  void Unstore(const std::string& name) const;

 private:
  std::map<std::string, UniqueFd> passed_;
  std::optional<absl::Duration> heartbeat_;
};

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_SYSTEMD_SERVICE_MANAGER_H_
