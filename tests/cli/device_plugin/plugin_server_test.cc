#include "cli/device_plugin/plugin_server.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/device_plugin/device_plugin.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/temp_directory.h"

namespace ibemu::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A kubelet as plugins see it.
class StubKubelet final : public v1beta1::Registration::Service {
 public:
  explicit StubKubelet(const std::string& folder)
      : channel_folder_(folder), server_(Start()) {}

  const std::vector<std::string>& registered() const { return registered_; }
  void Refuse(grpc::Status status) { answer_ = std::move(status); }

  grpc::Status Register(grpc::ServerContext* /*context*/,
                        const v1beta1::RegisterRequest* request,
                        v1beta1::Empty* /*response*/) override {
    if (!answer_.ok()) return answer_;
    registered_.push_back(request->version() + " " + request->resource_name() +
                          " " + request->endpoint());
    // As a kubelet does before it answers.
    const auto plugin = v1beta1::DevicePlugin::NewStub(grpc::CreateChannel(
        "unix:" + channel_folder_ + "/" + request->endpoint(),
        grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    v1beta1::DevicePluginOptions options;
    return plugin->GetDevicePluginOptions(&context, {}, &options);
  }

 private:
  std::unique_ptr<grpc::Server> Start() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + channel_folder_ + "/kubelet.sock",
                             grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    return builder.BuildAndStart();
  }

  const std::string channel_folder_;
  std::vector<std::string> registered_;
  grpc::Status answer_;
  std::unique_ptr<grpc::Server> server_;
};

class PluginServerTest : public ::testing::Test {
 protected:
  bool Listens() const {
    return std::filesystem::exists(folder_.path() + "/rdma_ibemu.sock");
  }

  testing::TempDirectory folder_;
  DevicePlugin plugin_{1};
  PluginServer server_{plugin_, folder_.path(), "rdma/ibemu"};
};

constexpr char kRegistered[] = "v1beta1 rdma/ibemu rdma_ibemu.sock";

TEST_F(PluginServerTest, ItRegistersOnceWithAKubelet) {
  EXPECT_TRUE(absl::IsNotFound(server_.KeepUp()));
  const StubKubelet kubelet(folder_.path());
  EXPECT_EQ(server_.KeepUp(), absl::OkStatus());
  EXPECT_EQ(server_.KeepUp(), absl::OkStatus());
  EXPECT_THAT(kubelet.registered(), ElementsAre(kRegistered));
}

TEST_F(PluginServerTest, AKubeletThatIsRestartedIsToldAgain) {
  auto kubelet = std::make_unique<StubKubelet>(folder_.path());
  ASSERT_EQ(server_.KeepUp(), absl::OkStatus());
  kubelet.reset();
  EXPECT_TRUE(absl::IsNotFound(server_.KeepUp()));
  kubelet = std::make_unique<StubKubelet>(folder_.path());
  EXPECT_EQ(server_.KeepUp(), absl::OkStatus());
  EXPECT_THAT(kubelet->registered(), ElementsAre(kRegistered));
}

TEST_F(PluginServerTest, ASocketThatTheKubeletHasRemovedIsMadeAgain) {
  const StubKubelet kubelet(folder_.path());
  ASSERT_EQ(server_.KeepUp(), absl::OkStatus());
  std::filesystem::remove(folder_.path() + "/rdma_ibemu.sock");
  EXPECT_EQ(server_.KeepUp(), absl::OkStatus());
  EXPECT_TRUE(Listens());
  EXPECT_THAT(kubelet.registered(), ElementsAre(kRegistered, kRegistered));
}

TEST_F(PluginServerTest, AKubeletThatRefusesIsAskedAgain) {
  StubKubelet kubelet(folder_.path());
  kubelet.Refuse({grpc::StatusCode::UNKNOWN, "no such version"});
  const absl::Status refused = server_.KeepUp();
  EXPECT_THAT(
      std::string(refused.message()),
      HasSubstr("the kubelet does not take rdma/ibemu: no such version"));
  kubelet.Refuse(grpc::Status::OK);
  EXPECT_EQ(server_.KeepUp(), absl::OkStatus());
  EXPECT_THAT(kubelet.registered(), ElementsAre(kRegistered));
}

TEST_F(PluginServerTest, AServerThatIsWatchedEndsAndTakesItsSocketAway) {
  auto server =
      std::make_unique<PluginServer>(plugin_, folder_.path(), "rdma/other");
  EXPECT_TRUE(absl::IsNotFound(server->KeepUp()));
  const auto kubelet = v1beta1::DevicePlugin::NewStub(
      grpc::CreateChannel("unix:" + folder_.path() + "/rdma_other.sock",
                          grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto list = kubelet->ListAndWatch(&context, {});
  v1beta1::ListAndWatchResponse last;
  ASSERT_TRUE(list->Read(&last));
  server.reset();
  EXPECT_FALSE(list->Read(&last));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(PluginServerTest, AnotherPluginOfTheResourceIsLeftAlone) {
  const StubKubelet kubelet(folder_.path());
  ASSERT_EQ(server_.KeepUp(), absl::OkStatus());
  PluginServer second(plugin_, folder_.path(), "rdma/ibemu");
  EXPECT_TRUE(absl::IsAlreadyExists(second.KeepUp()));
  EXPECT_EQ(server_.KeepUp(), absl::OkStatus());
  EXPECT_THAT(kubelet.registered(), ElementsAre(kRegistered));
}

TEST_F(PluginServerTest, AFolderThatIsMissingIsNamed) {
  PluginServer server(plugin_, folder_.path() + "/none", "rdma/ibemu");
  const absl::Status status = server.KeepUp();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("/none/rdma_ibemu.sock: "));
}

TEST(CheckResourceTest, AResourceHasADomainAndAName) {
  for (const char* const name : {"rdma/ibemu", "rdma/hca_shared_devices_a",
                                 "a.example.com/B.c-d", "a/b"}) {
    EXPECT_EQ(CheckResource(name), absl::OkStatus()) << name;
  }
  for (const std::string& name :
       {std::string("ibemu"), std::string("rdma/"), std::string("/ibemu"),
        std::string("a/b/c"), std::string("Rdma/x"), std::string("a..b/x"),
        std::string("-a/x"), std::string("rdma/x y"), std::string("rdma/_x"),
        std::string("a.-b/x"), std::string("x.kubernetes.io/y"),
        std::string("requests.a/x"), std::string(""),
        "rdma/" + std::string(64, 'x'),
        std::string(60, 'x') + "." + std::string(190, 'x') + "/x"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckResource(name))) << name;
  }
}

}  // namespace
}  // namespace ibemu::cli
