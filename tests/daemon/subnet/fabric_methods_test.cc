#include "daemon/subnet/fabric_methods.h"

#include <algorithm>
#include <string>

#include "fabric/subnet/live_topology.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/method_caller.h"
#include "topology/formats/load_topology.h"
#include "topology/ibnetdiscover_writer.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Four hosts on one switch.
class FabricMethodsTest : public ::testing::Test, protected MethodCaller {
 protected:
  FabricMethodsTest() {
    methods_.AddTo(dispatcher);
    lab_.timers.RunFor(absl::Seconds(1));
  }

  int LinksUp() { return methods_.Summary()["links_up"].get<int>(); }

  testing::Lab lab_{"single-switch:hosts=4"};
  FabricMethods methods_{lab_.timers, lab_.fabric};
};

TEST_F(FabricMethodsTest, NodesTellWhatTheyAre) {
  const json page = Result("nodes", json::object());
  EXPECT_EQ(page["total"], 5);
  int switches = 0;
  for (const json& node : page["nodes"]) {
    EXPECT_EQ(node["up"], true);
    EXPECT_EQ(node["plugged"], true);
    EXPECT_EQ(node["remote"], false);
    EXPECT_EQ(node["ports"].size(), 1u);
    if (node["type"] != "switch") continue;
    ++switches;
    EXPECT_EQ(node["ports_linked"], 4);
  }
  EXPECT_EQ(switches, 1);
}

TEST_F(FabricMethodsTest, PagesTogetherHoldEachLinkOnce) {
  EXPECT_EQ(Result("nodes", {{"from", 4}})["nodes"].size(), 1u);
  EXPECT_EQ(Result("nodes", {{"from", 5}})["nodes"].size(), 0u);
  size_t links = 0;
  int pages = 0;
  for (json from = 0; !from.is_null(); ++pages) {
    const json page = Result("links", {{"from", from}, {"limit", 1}});
    links += page["links"].size();
    from = page["next"];
  }
  EXPECT_EQ(links, 4u);
  EXPECT_GE(pages, 4);
}

TEST_F(FabricMethodsTest, ALinkIsCutAndRestored) {
  ASSERT_EQ(LinksUp(), 4);
  Result("link.set", {{"node", "node-1"}, {"port", 1}, {"up", false}});
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(LinksUp(), 3);
  Result("link.set", {{"node", "node-1"}, {"port", 1}, {"up", true}});
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(LinksUp(), 4);
}

TEST_F(FabricMethodsTest, ACutForSomeTimeEndsByItself) {
  Result("link.set",
         {{"node", "node-1"}, {"port", 1}, {"up", false}, {"for_ms", 5000}});
  lab_.timers.RunFor(absl::Seconds(4));
  EXPECT_EQ(LinksUp(), 3);
  lab_.timers.RunFor(absl::Seconds(2));
  EXPECT_EQ(LinksUp(), 4);
}

TEST_F(FabricMethodsTest, ALaterWordAboutALinkOverridesTheTimedOne) {
  const json cut = {{"node", "node-1"}, {"port", 1}, {"up", false}};
  json timed = cut;
  timed["for_ms"] = 5000;
  Result("link.set", timed);
  Result("link.set", cut);
  lab_.timers.RunFor(absl::Hours(1));
  EXPECT_EQ(LinksUp(), 3);
}

TEST_F(FabricMethodsTest, ANodeThatIsOffTakesItsLinksAlong) {
  Result("node.set", {{"node", "node-2"}, {"up", false}});
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(LinksUp(), 3);
  EXPECT_EQ(fabric::LiveTopology(lab_.subnet()).nodes.size(), 4u);
  Result("node.set", {{"node", "node-2"}, {"up", true}});
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(LinksUp(), 4);
}

TEST_F(FabricMethodsTest, ANodeWhoseAdapterIsOutSaysSo) {
  ASSERT_TRUE(lab_.fabric.RemoveDevice(*lab_.fabric.Find("node-2")).ok());
  const json nodes = Result("nodes", json::object())["nodes"];
  const auto node = std::find_if(
      nodes.begin(), nodes.end(),
      [](const json& one) { return one["description"] == "node-2"; });
  ASSERT_NE(node, nodes.end());
  EXPECT_EQ((*node)["plugged"], false);
  EXPECT_EQ((*node)["up"], false);
  EXPECT_EQ(LinksUp(), 3);
  EXPECT_EQ(fabric::LiveTopology(lab_.subnet()).nodes.size(), 4u);
}

TEST_F(FabricMethodsTest, MistakesNameWhatWasMeant) {
  EXPECT_THAT(Error("link.set", {{"node", "nodd-1"}, {"port", 1}}),
              HasSubstr("did you mean \"node-1\"?"));
  EXPECT_THAT(Error("link.set", {{"node", "node-1"}, {"port", 9}}),
              HasSubstr("9"));
  EXPECT_THAT(Error("node.set", {{"node", "node-1"}, {"upp", true}}),
              HasSubstr("did you mean \"up\"?"));
}

TEST_F(FabricMethodsTest, TheExportedTextDescribesTheSameSubnet) {
  const json result = Result("topology.text", json::object());
  const auto exported =
      topology::ParseTopology(result["text"].get<std::string>(), "export");
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(
      topology::FormatIbnetdiscover(topology::NormalizeTopology(*exported)),
      topology::FormatIbnetdiscover(
          topology::NormalizeTopology(lab_.topology)));
}

}  // namespace
}  // namespace ibemu::daemon
