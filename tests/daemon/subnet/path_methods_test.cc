#include "daemon/subnet/path_methods.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Three hosts on one switch.
class PathMethodsTest : public ::testing::Test, protected MethodCaller {
 protected:
  PathMethodsTest() { methods_.AddTo(dispatcher); }

  void Configure() {
    lab_.Configure();
    lab_.timers.RunFor(absl::Seconds(1));
  }
  json Trace() {
    return Result("path.trace", {{"from", "node-1"}, {"to", "node-2"}});
  }

  testing::Lab lab_{"single-switch:hosts=3"};
  PathMethods methods_{lab_.fabric};
};

TEST_F(PathMethodsTest, TheHopsAreNodesWithTheirPorts) {
  Configure();
  const json path = Trace();
  EXPECT_EQ(path["end"], nullptr);
  const json& hops = path["hops"];
  ASSERT_EQ(hops.size(), 3u);
  EXPECT_EQ(hops[0]["node"], "node-1");
  EXPECT_EQ(hops[0]["name"], lab_.subnet().node(lab_.Find("node-1")).name);
  EXPECT_EQ(hops[0]["entry"], nullptr);
  EXPECT_EQ(hops[0]["exit"], 1);
  EXPECT_EQ(hops[1]["entry"], 1);
  EXPECT_EQ(hops[1]["exit"], 2);
  EXPECT_EQ(hops[2]["node"], "node-2");
}

TEST_F(PathMethodsTest, AnyLidOfThePortMayBeAskedFor) {
  Configure();
  const fabric::PortId port = *lab_.fabric.FindPort(lab_.Find("node-2"), 1);
  lab_.fabric.SetLid(port, wire::Lid{32}, 2);
  fabric::Subnet& subnet = lab_.subnet();
  fabric::SwitchState& leaf = *subnet.NodeOf(subnet.port(port).peer).sw;
  leaf.info.linear_fdb_top = 35;
  leaf.linear.Set(wire::Lid{35}, 2);
  json ends = {{"from", "node-1"}, {"to", "node-2"}, {"lid", 35}};
  const json path = Result("path.trace", ends);
  EXPECT_EQ(path["lid"], 35);
  EXPECT_EQ(path["end"], nullptr);
  EXPECT_EQ(path["hops"].back()["node"], "node-2");
  EXPECT_EQ(Trace()["lid"], 32);
  ends["lid"] = 36;
  EXPECT_THAT(Error("path.trace", ends),
              HasSubstr("LID 36 is none of port 1 of node-2"));
}

TEST_F(PathMethodsTest, APathThatEndsEarlySaysWhereAndWhy) {
  Configure();
  lab_.SetLink(lab_.Find("node-1"), 1, false);
  const json path = Trace();
  EXPECT_EQ(path["end"], "link-down");
  EXPECT_EQ(path["text"], "port 1 of node-1 is not active");
}

TEST_F(PathMethodsTest, WithoutASubnetManagerThereIsNoLid) {
  const json path = Trace();
  EXPECT_EQ(path["end"], "no-route");
  EXPECT_EQ(path["text"], "port 1 of node-2 has no LID yet");
}

TEST_F(PathMethodsTest, MistakesAreNamed) {
  EXPECT_THAT(Error("path.trace", {{"from", "node-1"}, {"to", "nodd-2"}}),
              HasSubstr("did you mean \"node-2\"?"));
  EXPECT_THAT(Error("path.trace",
                    {{"from", "node-1"}, {"to", "node-2"}, {"to_port", 7}}),
              HasSubstr("7"));
}

}  // namespace
}  // namespace ibemu::daemon
