#include "daemon/views/attachments.h"

#include <memory>
#include <string>

#include "daemon/adapters/fabric_adapters.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/daemon/method_caller.h"
#include "topology/formats/load_topology.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

// Three hosts on one switch.  Views need a kernel: tests/e2e has them.
class AttachmentsTest : public ::testing::Test, protected MethodCaller {
 protected:
  AttachmentsTest() {
    adapters_.AddTo(dispatcher);
    attachments_.AddTo(dispatcher);
  }

  void Set(const std::string& node, bool present) {
    EXPECT_EQ(Result("device.set", {{"node", node}, {"present", present}}),
              (json{{"present", present}}));
  }

  std::unique_ptr<Loop> loop_ = MakeLoop().value();
  fabric::Fabric fabric_{
      topology::LoadTopology("single-switch:hosts=3").value(), *loop_,
      fabric::FabricOptions{}};
  FabricAdapters adapters_{fabric_};
  HostTable hosts_{*loop_, adapters_};
  AddressPlan plan_;
  ConnectionTable connections_{*loop_, hosts_, plan_, /*seed=*/1};
  NetworkTable networks_{*loop_, adapters_, connections_};
  Attachments attachments_{*loop_, hosts_, connections_, networks_};
};

TEST_F(AttachmentsTest, ADeviceThatNobodyUsesIsRemovedAndAdded) {
  fabric::Fabric& fabric = fabric_;
  mad::Port& port = fabric.device(*fabric.Find("node-2")).port(1);
  Set("node-2", false);
  EXPECT_EQ(port.Info().port_state, mad::PortState::kDown);
  Set("node-2", true);
  EXPECT_EQ(port.Info().port_state, mad::PortState::kInit);
  EXPECT_EQ(attachments_.List(), json::array());
}

TEST_F(AttachmentsTest, ADeviceIsEitherThereOrNot) {
  EXPECT_EQ(Error("device.set", {{"node", "node-1"}, {"present", true}}),
            "the device of \"node-1\" is there already");
  Set("node-1", false);
  EXPECT_EQ(Error("device.set", {{"node", "node-1"}, {"present", false}}),
            "the device of \"node-1\" is removed already");
}

TEST_F(AttachmentsTest, MistakesNameWhatWasMeant) {
  EXPECT_EQ(Error("device.set", {{"node", "nod-3"}, {"present", false}}),
            "no node \"nod-3\": did you mean \"node-3\"?");
  EXPECT_THAT(Error("device.set", {{"node", "node-1"}, {"presen", false}}),
              ::testing::HasSubstr("did you mean \"present\"?"));
}

TEST_F(AttachmentsTest, HostsBelongToTheMachineOnlyInSystemMode) {
  EXPECT_THAT(Error("host.set", {{"node", "node-1"}, {"present", true}}),
              ::testing::StartsWith(
                  "this daemon shows no devices to the whole machine"));
}

TEST_F(AttachmentsTest, AHostWithoutItsDeviceIsNotAttached) {
  Set("node-1", false);
  const std::string cure =
      "the device of \"node-1\" is removed: put it back with \"ibemu device "
      "node-1 add\"";
  EXPECT_EQ(Error("attach", {{"hosts", {"node-2", "node-1"}}}), cure);
  EXPECT_EQ(Error("attach", json::object()), cure) << "the default host";
  Set("node-1", true);
  EXPECT_EQ(Error("attach", json::object()),
            "no /dev/fuse came with the request");
}

}  // namespace
}  // namespace ibemu::daemon
