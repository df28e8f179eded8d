#include "launch/systemd/service_manager.h"

#include <systemd/sd-daemon.h>

#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"

namespace ibemu::launch {
namespace {

constexpr uint64_t kStoredWithin = 5'000'000;  // microseconds

void Tell(const std::string& state) {
  sd_notify(/*unset_environment=*/0, state.c_str());
}

}  // namespace

ServiceManager::ServiceManager() {
  char** names = nullptr;
  // No child of ours should take them for its own.
  const int count = sd_listen_fds_with_names(/*unset_environment=*/1, &names);
  for (int i = 0; i < count; ++i) {
    passed_.emplace(names[i], UniqueFd(SD_LISTEN_FDS_START + i));
    std::free(names[i]);
  }
  std::free(names);
  uint64_t period = 0;
  if (sd_watchdog_enabled(/*unset_environment=*/1, &period) > 0) {
    heartbeat_ = absl::Microseconds(period) / 2;
  }
}

UniqueFd ServiceManager::Take(const std::string& name) {
  const auto passed = passed_.extract(name);
  return passed ? std::move(passed.mapped()) : UniqueFd();
}

void ServiceManager::Ready(std::string_view status) const {
  Tell(absl::StrCat("READY=1\nSTATUS=", Absl(status)));
}

void ServiceManager::Stopping() const { Tell("STOPPING=1"); }

void ServiceManager::Alive() const { Tell("WATCHDOG=1"); }

absl::Status ServiceManager::Store(int fd, const std::string& name) {
  const std::string state = absl::StrCat("FDSTORE=1\nFDNAME=", name);
  if (sd_pid_notify_with_fds(0, 0, state.c_str(), &fd, 1) <= 0) {
    return absl::FailedPreconditionError(
        "no service manager takes the descriptor: it belongs into a unit with "
        "FileDescriptorStoreMax= and NotifyAccess=exec");
  }
  // A message of a process that has ended can't be told to be of its unit.
  const int error = sd_notify_barrier(0, kStoredWithin);
  if (error < 0) return absl::ErrnoToStatus(-error, "sd_notify_barrier");
  return absl::OkStatus();
}

void ServiceManager::Unstore(const std::string& name) const {
  Tell(absl::StrCat("FDSTOREREMOVE=1\nFDNAME=", name));
}

}  // namespace ibemu::launch
