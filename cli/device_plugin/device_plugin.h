// DevicePlugin: the devices of a node, for those of its pods that ask for them.
#ifndef IBEMU_CLI_DEVICE_PLUGIN_DEVICE_PLUGIN_H_
#define IBEMU_CLI_DEVICE_PLUGIN_DEVICE_PLUGIN_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/device_plugin/device_plugin.grpc.pb.h"

namespace ibemu::cli {

// A DevicePlugin offers `slots` devices to the kubelet, called "slot-0" and so
// on.  A container with one of them, or with several, gets all device files
// that there are, and their entries in /sys.  Source: the device plugin API of
// Kubernetes, v1beta1.
//
// gRPC calls it on its own threads.
class DevicePlugin final : public v1beta1::DevicePlugin::Service {
 public:
  explicit DevicePlugin(int slots) : slots_(slots) {}

  // Says what ShownDevices() has found.  Without any devices no slot is
  // healthy, and no pod gets one.  Those who watch are told of it.
  void Show(absl::StatusOr<std::vector<std::string>> devices);

  // Calls of the kubelet; ListAndWatch() lasts until the kubelet or the server
  // ends it.
  //
  // Errors of Allocate(): InvalidArgument, there is no such slot; why there are
  // no devices.
  grpc::Status GetDevicePluginOptions(
      grpc::ServerContext* context, const v1beta1::Empty* request,
      v1beta1::DevicePluginOptions* response) override;
  grpc::Status ListAndWatch(
      grpc::ServerContext* context, const v1beta1::Empty* request,
      grpc::ServerWriter<v1beta1::ListAndWatchResponse>* writer) override;
  grpc::Status Allocate(grpc::ServerContext* context,
                        const v1beta1::AllocateRequest* request,
                        v1beta1::AllocateResponse* response) override;

 private:
  v1beta1::ListAndWatchResponse List(bool healthy) const;
  absl::Status CheckSlot(const std::string& id) const;

  const int slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  absl::StatusOr<std::vector<std::string>> devices_ =
      absl::UnavailableError("nobody has looked for devices yet");
};

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_DEVICE_PLUGIN_DEVICE_PLUGIN_H_
