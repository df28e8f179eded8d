#include "cli/device_plugin/device_plugin.h"

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "launch/mount_plan.h"
#include "peers/grpc_status.h"

namespace ibemu::cli {
namespace {

constexpr std::string_view kSlot = "slot-";
constexpr char kHealthy[] = "Healthy", kUnhealthy[] = "Unhealthy";
constexpr char kFolder[] = "/dev/infiniband/";
constexpr char kReadAndWrite[] = "rw";
// How often a watcher looks whether it is still wanted: gRPC does not tell.
constexpr std::chrono::seconds kLooksEvery(1);

}  // namespace

void DevicePlugin::Show(absl::StatusOr<std::vector<std::string>> devices) {
  const std::lock_guard lock(mutex_);
  devices_ = std::move(devices);
  changed_.notify_all();
}

grpc::Status DevicePlugin::GetDevicePluginOptions(
    grpc::ServerContext* /*context*/, const v1beta1::Empty* /*request*/,
    v1beta1::DevicePluginOptions* /*response*/) {
  return grpc::Status::OK;
}

grpc::Status DevicePlugin::ListAndWatch(
    grpc::ServerContext* context, const v1beta1::Empty* /*request*/,
    grpc::ServerWriter<v1beta1::ListAndWatchResponse>* writer) {
  std::optional<bool> told;
  std::unique_lock lock(mutex_);
  while (!context->IsCancelled()) {
    if (told == devices_.ok()) {
      changed_.wait_for(lock, kLooksEvery);
      continue;
    }
    told = devices_.ok();
    lock.unlock();
    if (!writer->Write(List(*told))) break;
    lock.lock();
  }
  return grpc::Status::OK;
}

v1beta1::ListAndWatchResponse DevicePlugin::List(bool healthy) const {
  v1beta1::ListAndWatchResponse list;
  for (int slot = 0; slot < slots_; ++slot) {
    v1beta1::Device& device = *list.add_devices();
    device.set_id(absl::StrCat(Absl(kSlot), slot));
    device.set_health(healthy ? kHealthy : kUnhealthy);
  }
  return list;
}

absl::Status DevicePlugin::CheckSlot(const std::string& id) const {
  int slot = -1;
  if (id.starts_with(kSlot) &&
      absl::SimpleAtoi(id.substr(kSlot.size()), &slot) && slot >= 0 &&
      slot < slots_) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no device \"", id, "\": they are ", Absl(kSlot),
                   "0 to ", Absl(kSlot), slots_ - 1));
}

grpc::Status DevicePlugin::Allocate(grpc::ServerContext* /*context*/,
                                    const v1beta1::AllocateRequest* request,
                                    v1beta1::AllocateResponse* response) {
  const auto devices = [this] {
    const std::lock_guard lock(mutex_);
    return devices_;
  }();
  if (!devices.ok()) return peers::ToGrpc(devices.status());
  for (const auto& container : request->container_requests()) {
    for (const std::string& id : container.devices_ids()) {
      const absl::Status known = CheckSlot(id);
      if (!known.ok()) return peers::ToGrpc(known);
    }
    auto& needs = *response->add_container_responses();
    for (const std::string& name : *devices) {
      v1beta1::DeviceSpec& file = *needs.add_devices();
      file.set_host_path(absl::StrCat(kFolder, name));
      file.set_container_path(file.host_path());
      file.set_permissions(kReadAndWrite);
    }
    // The links of the first lead into the second.
    for (const char* const place : {launch::kSysClass, launch::kSystemMount}) {
      v1beta1::Mount& mount = *needs.add_mounts();
      mount.set_host_path(place);
      mount.set_container_path(place);
      mount.set_read_only(true);
    }
  }
  return grpc::Status::OK;
}

}  // namespace ibemu::cli
