#include "daemon/subnet/hardware_methods.h"

#include <string>

#include "fabric/subnet/subnet.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class HardwareMethodsTest : public ::testing::Test, protected MethodCaller {
 protected:
  HardwareMethodsTest() { methods_.AddTo(dispatcher); }

  json Cable(const char* node, int port, const char* peer, int peer_port) {
    return {{"node", node},
            {"port", port},
            {"peer", peer},
            {"peer_port", peer_port}};
  }

  testing::Lab lab_{"single-switch:hosts=3"};
  HardwareMethods methods_{lab_.fabric};
};

TEST_F(HardwareMethodsTest, ShowsPortsWithTheirPeers) {
  const json node = Result("node.show", {{"node", "node-2"}});
  EXPECT_EQ(node["type"], "ca");
  EXPECT_TRUE(node["switch"].is_null());
  ASSERT_EQ(node["ports"].size(), 1u);
  EXPECT_EQ(node["ports"][0]["peer"]["port"], 2);
  EXPECT_EQ(node["ports"][0]["state"], "init");
  EXPECT_EQ(node["ports"][0]["physical_state"], "linkup");
}

TEST_F(HardwareMethodsTest, ShowsASwitchsTable) {
  ASSERT_TRUE(fabric::ConfigureStatically(lab_.fabric).ok());
  const json node = Result("node.show", {{"node", "switch-1"}});
  const json& table = node["switch"];
  ASSERT_EQ(table["forwarding"].size(), table["top"].get<size_t>() + 1);
  EXPECT_EQ(table["forwarding"][2], 2);
  EXPECT_EQ(node["ports"][0]["port"], 0);
  EXPECT_TRUE(node["ports"][0]["peer"].is_null());
}

TEST_F(HardwareMethodsTest, PlugsACableElsewhereAndTheOldEndHangsLoose) {
  lab_.SetLink(lab_.Find("node-1"), 1, false);
  lab_.SetLink(lab_.Find("node-2"), 1, false);
  Result("cable.set", Cable("node-1", 1, "switch-1", 2));
  const json node = Result("node.show", {{"node", "node-1"}});
  EXPECT_EQ(node["ports"][0]["peer"]["port"], 2);
  const json other = Result("node.show", {{"node", "node-2"}});
  EXPECT_TRUE(other["ports"][0]["peer"].is_null());
  EXPECT_EQ(other["ports"][0]["state"], "down");
}

TEST_F(HardwareMethodsTest, RefusesPortsThatAreTakenOrNotThere) {
  EXPECT_THAT(Error("cable.set", Cable("node-1", 1, "switch-1", 1)),
              HasSubstr("is connected already"));
  EXPECT_THAT(Error("cable.set", Cable("node-1", 2, "switch-1", 1)),
              HasSubstr("it has ports 1 to 1"));
  EXPECT_THAT(Error("lid.set", {{"node", "switch-1"}, {"port", 2}, {"lid", 5}}),
              HasSubstr("has no LID of its own"));
  EXPECT_THAT(Error("lid.set", {{"node", "switch-1"}, {"port", 0}, {"lid", 0}}),
              HasSubstr("lid"));
  EXPECT_THAT(Error("guid.set", {{"node", "switch-1"}, {"guid", "0"}}),
              HasSubstr("is no GUID"));
}

TEST_F(HardwareMethodsTest, ASwitchsLidIsThatOfItsPort0) {
  Result("lid.set", {{"node", "switch-1"}, {"port", 0}, {"lid", 7}});
  const fabric::Node& node = lab_.subnet().node(lab_.Find("switch-1"));
  EXPECT_EQ(lab_.subnet().port(node.first_port).info.lid, wire::Lid{7});
  EXPECT_TRUE(node.sw->info.port_state_change);
}

}  // namespace
}  // namespace ibemu::daemon
