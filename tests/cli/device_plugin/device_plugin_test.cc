#include "cli/device_plugin/device_plugin.h"

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::cli {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr int kSlots = 3;
const std::vector<std::string> kDevices = {"rdma_cm", "umad0"};

class DevicePluginTest : public ::testing::Test {
 protected:
  DevicePluginTest() {
    grpc::ServerBuilder builder;
    builder.RegisterService(&plugin_);
    server_ = builder.BuildAndStart();
    kubelet_ = v1beta1::DevicePlugin::NewStub(server_->InProcessChannel({}));
  }

  grpc::Status Allocate(const std::vector<std::string>& ids) {
    v1beta1::AllocateRequest request;
    auto& container = *request.add_container_requests();
    for (const std::string& id : ids) container.add_devices_ids(id);
    grpc::ClientContext context;
    return kubelet_->Allocate(&context, request, &allocated_);
  }

  DevicePlugin plugin_{kSlots};
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1beta1::DevicePlugin::Stub> kubelet_;
  v1beta1::AllocateResponse allocated_;
};

// The health of each device of a list, by its name.
std::vector<std::string> Told(const v1beta1::ListAndWatchResponse& list) {
  std::vector<std::string> told;
  for (const auto& device : list.devices()) {
    told.push_back(device.id() + " " + device.health());
  }
  return told;
}

TEST_F(DevicePluginTest, WhoWatchesIsToldOfEachChangeAndOfNothingElse) {
  grpc::ClientContext context;
  const auto list = kubelet_->ListAndWatch(&context, {});
  v1beta1::ListAndWatchResponse last;
  ASSERT_TRUE(list->Read(&last));
  EXPECT_THAT(Told(last), ElementsAre("slot-0 Unhealthy", "slot-1 Unhealthy",
                                      "slot-2 Unhealthy"));
  plugin_.Show(kDevices);
  plugin_.Show(kDevices);
  ASSERT_TRUE(list->Read(&last));
  EXPECT_THAT(Told(last), ElementsAre("slot-0 Healthy", "slot-1 Healthy",
                                      "slot-2 Healthy"));
  plugin_.Show(absl::UnavailableError("gone"));
  ASSERT_TRUE(list->Read(&last));
  EXPECT_THAT(Told(last), Each(::testing::EndsWith(" Unhealthy")));
  context.TryCancel();
  EXPECT_FALSE(list->Read(&last));
}

TEST_F(DevicePluginTest, AContainerGetsAllDevicesAndTheirEntriesOfSys) {
  plugin_.Show(kDevices);
  ASSERT_TRUE(Allocate({"slot-2", "slot-0"}).ok());
  ASSERT_EQ(allocated_.container_responses_size(), 1);
  std::vector<std::string> files, mounts;
  for (const auto& file : allocated_.container_responses(0).devices()) {
    EXPECT_EQ(file.container_path(), file.host_path());
    files.push_back(file.host_path() + " " + file.permissions());
  }
  for (const auto& mount : allocated_.container_responses(0).mounts()) {
    EXPECT_EQ(mount.container_path(), mount.host_path());
    EXPECT_TRUE(mount.read_only());
    mounts.push_back(mount.host_path());
  }
  EXPECT_THAT(files, ElementsAre("/dev/infiniband/rdma_cm rw",
                                 "/dev/infiniband/umad0 rw"));
  EXPECT_THAT(mounts, ElementsAre("/sys/class", "/run/ibemu/sys"));
}

TEST_F(DevicePluginTest, EachContainerOfAPodIsAnswered) {
  plugin_.Show(kDevices);
  v1beta1::AllocateRequest request;
  request.add_container_requests()->add_devices_ids("slot-0");
  request.add_container_requests()->add_devices_ids("slot-1");
  grpc::ClientContext context;
  ASSERT_TRUE(kubelet_->Allocate(&context, request, &allocated_).ok());
  EXPECT_EQ(allocated_.container_responses_size(), 2);
}

TEST_F(DevicePluginTest, ASlotThatIsNotThereIsGivenToNobody) {
  plugin_.Show(kDevices);
  for (const char* const id :
       {"slot-3", "slot--1", "slot-", "umad0", "", "slot-0x"}) {
    const grpc::Status refused = Allocate({"slot-0", id});
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << id;
    EXPECT_EQ(refused.error_message(), std::string("there is no device \"") +
                                           id +
                                           "\": they are slot-0 to slot-2");
  }
}

TEST_F(DevicePluginTest, WithoutDevicesAContainerIsTold) {
  plugin_.Show(absl::UnavailableError("gone"));
  const grpc::Status refused = Allocate({"slot-0"});
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(refused.error_message(), "gone");
}

TEST_F(DevicePluginTest, ItWantsNoFurtherCalls) {
  grpc::ClientContext context;
  v1beta1::DevicePluginOptions options;
  ASSERT_TRUE(kubelet_->GetDevicePluginOptions(&context, {}, &options).ok());
  EXPECT_EQ(options.ByteSizeLong(), 0U);
}

}  // namespace
}  // namespace ibemu::cli
