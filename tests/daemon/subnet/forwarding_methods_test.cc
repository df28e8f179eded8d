#include "daemon/subnet/forwarding_methods.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::HasSubstr, ::testing::SizeIs;

// host-1 – sw1 – sw2 – host-2.
class ForwardingMethodsTest : public ::testing::Test, protected MethodCaller {
 protected:
  ForwardingMethodsTest() {
    methods_.AddTo(dispatcher);
    sw_.info.linear_fdb_top = 0;
    sw_.linear = {};
  }

  // The table of sw1.
  void Set(unsigned lid, uint8_t port) {
    sw_.linear.Set(wire::Lid{static_cast<uint16_t>(lid)}, port);
    sw_.info.linear_fdb_top =
        std::max<uint16_t>(sw_.info.linear_fdb_top, static_cast<uint16_t>(lid));
  }
  json Show(json parameters = json::object()) {
    parameters["node"] = "sw1";
    return Result("forwarding.show", parameters);
  }

  testing::Lab lab_{testing::Chain(2), testing::Lab::kStatically};
  fabric::SwitchState& sw_ = *lab_.subnet().node(lab_.Find("sw1")).sw;
  ForwardingMethods methods_{lab_.fabric};
};

TEST_F(ForwardingMethodsTest, LidsThatLeaveByOnePortAreOneRun) {
  for (const unsigned lid : {3u, 4u, 5u, 8u, 9u}) Set(lid, 2);
  Set(6, 1);
  EXPECT_EQ(Show()["routes"], (json{{3, 5, 2}, {6, 6, 1}, {8, 9, 2}}));
  EXPECT_EQ(Show({{"from", 4}})["routes"],
            (json{{4, 5, 2}, {6, 6, 1}, {8, 9, 2}}));
  EXPECT_EQ(Show()["next"], nullptr);
}

TEST_F(ForwardingMethodsTest, EachPortTellsHowManyLidsLeaveThroughIt) {
  fabric::Subnet& subnet = lab_.subnet();
  const wire::Lid lid = subnet.port(subnet.port_id(lab_.Host(2), 1)).info.lid;
  const auto own = static_cast<unsigned>(lid);
  Set(own, 2);
  Set(100, 2);  // nobody's
  const json ports = Show()["ports"];
  const json* out = nullptr;
  for (const json& port : ports) {
    if (port["port"] == 2) out = &port;
  }
  ASSERT_NE(out, nullptr) << ports;
  EXPECT_EQ((*out)["lids"], 2);
  EXPECT_EQ((*out)["hosts"], 1);
  EXPECT_EQ((*out)["peer"]["node"], "sw2");
  EXPECT_EQ((*out)["peer"]["switch"], true);
}

TEST_F(ForwardingMethodsTest, ALongTableComesInPages) {
  constexpr unsigned kRuns = ForwardingMethods::kPage + 500;
  for (unsigned lid = 1; lid <= kRuns; ++lid) {
    Set(lid, static_cast<uint8_t>(1 + lid % 2));
  }
  json page = Show();
  EXPECT_THAT(page["routes"], SizeIs(ForwardingMethods::kPage));
  EXPECT_EQ(page["next"], ForwardingMethods::kPage + 1);
  page = Show({{"from", page["next"]}});
  EXPECT_THAT(page["routes"], SizeIs(500));
  EXPECT_EQ(page["routes"].back(), (json{kRuns, kRuns, 1 + kRuns % 2}));
  EXPECT_EQ(page["next"], nullptr);
}

TEST_F(ForwardingMethodsTest, OnlySwitchesHaveTables) {
  EXPECT_THAT(Error("forwarding.show", {{"node", "host-1"}}),
              HasSubstr("host-1 is no switch: only switches have forwarding "
                        "tables"));
  EXPECT_THAT(Error("forwarding.show", {{"node", "host-7"}}),
              HasSubstr("host-7"));
}

}  // namespace
}  // namespace ibemu::daemon
