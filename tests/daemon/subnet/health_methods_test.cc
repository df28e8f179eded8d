#include "daemon/subnet/health_methods.h"

#include <string>

#include "fabric/agents/pma_counters.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/port_codes.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "testing/mad_builder.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::Contains, ::testing::ElementsAre, ::testing::IsEmpty,
    ::testing::SizeIs;

// Twelve hosts on one switch.
class HealthMethodsTest : public ::testing::Test, protected MethodCaller {
 protected:
  HealthMethodsTest() { methods_.AddTo(dispatcher); }

  json Health() { return Result("health", json::object()); }
  fabric::NodePort& HostPort(int number) {
    fabric::Subnet& subnet = lab_.subnet();
    return subnet.port(subnet.port_id(lab_.Host(number), 1));
  }

  testing::Lab lab_{testing::FromText("single-switch:hosts=12"),
                    testing::Lab::kStatically};
  HealthMethods methods_{lab_.fabric};
};

TEST_F(HealthMethodsTest, OfASubnetThatIsWellNothingIsListed) {
  const json health = Health();
  EXPECT_EQ(health["links"],
            (json{{"active", 12}, {"init", 0}, {"down", 0}, {"cut", 0}}));
  EXPECT_THAT(health["slow"], IsEmpty());
  EXPECT_THAT(health["errors"], IsEmpty());
  EXPECT_EQ(health["error_count"], 0);
  EXPECT_THAT(health["wrong"], IsEmpty());
}

TEST_F(HealthMethodsTest, LinksAreCountedByWhatIsWrongWithThem) {
  lab_.SetLink(lab_.Host(1), 1, false);
  lab_.fabric.SetNode(lab_.Host(2), false);
  HostPort(3).info.port_state = mad::PortState::kInit;
  const json health = Health();
  EXPECT_EQ(health["links"],
            (json{{"active", 9}, {"init", 1}, {"down", 1}, {"cut", 1}}));
  for (const char* words :
       {"1 link is cut", "1 link is down", "1 link is up and not active"}) {
    EXPECT_THAT(health["wrong"], Contains(words));
  }
}

TEST_F(HealthMethodsTest, ALinkThatIsSlowerThanBothEndsCouldIsListed) {
  fabric::NodePort& port = HostPort(2);
  port.info.link_width_active = mad::link_width::k1x;
  lab_.subnet().port(port.peer).info.link_width_active = mad::link_width::k1x;
  const json health = Health();
  EXPECT_EQ(health["slow_count"], 1);
  EXPECT_THAT(health["wrong"],
              ElementsAre("1 link is slower than it could be"));
  ASSERT_THAT(health["slow"], SizeIs(1));
  EXPECT_EQ(health["slow"][0]["rate"], "1xHDR");
  EXPECT_EQ(health["slow"][0]["could_be"], "4xHDR");
}

TEST_F(HealthMethodsTest, TheTenPortsWithMostErrorsAreListed) {
  for (int host = 1; host <= 11; ++host) {
    HostPort(host).Events().symbol_errors = static_cast<uint32_t>(host);
  }
  HostPort(1).Events().link_downed = 100;
  const json health = Health();
  EXPECT_EQ(health["error_count"], 11);
  EXPECT_THAT(health["wrong"], ElementsAre("11 ports count errors"));
  ASSERT_THAT(health["errors"], SizeIs(HealthMethods::kMaxErrors));
  const json& worst = health["errors"][0];
  EXPECT_EQ(worst["node"], "node-1");
  EXPECT_EQ(worst["port"], 1);
  EXPECT_EQ(worst["total"], 101);
  EXPECT_EQ(worst["counters"],
            (json{{{"name", "SymbolErrorCounter"}, {"value", 1}},
                  {{"name", "LinkDownedCounter"}, {"value", 100}}}));
  EXPECT_EQ(health["errors"][1]["node"], "node-11");
}

TEST_F(HealthMethodsTest, ACounterThatSomebodySetCounts) {
  fabric::WriteCounter(HostPort(1), fabric::Counter::kRcvErrors, 5);
  EXPECT_EQ(Health()["errors"][0]["total"], 5);
}

TEST_F(HealthMethodsTest, SubnetManagersAreListed) {
  HostPort(4).info.capability_mask |= mad::capability::kIsSm;
  HostPort(4).info.master_sm_lid = HostPort(4).info.lid;
  HostPort(5).info.capability_mask |= mad::capability::kIsSm;
  HostPort(5).info.master_sm_lid = HostPort(4).info.lid;
  const json managers = Health()["managers"];
  ASSERT_THAT(managers, SizeIs(2));
  EXPECT_EQ(managers[0]["node"], "node-4");
  EXPECT_EQ(managers[0]["master"], true);
  EXPECT_EQ(managers[1]["master"], false);
  EXPECT_FALSE(managers[0].contains("sweep")) << "nobody has seen one";
}

TEST_F(HealthMethodsTest, ASweepIsToldUntilTheNextOne) {
  HostPort(1).info.capability_mask |= mad::capability::kIsSm;
  const auto send = [this](mad::Method method) {
    mad::Outgoing packet =
        testing::DirectedGet(mad::AttributeId::kNodeInfo, {1});
    wire::Put<&mad::MadHeader::method>(packet.mad, method);
    ASSERT_TRUE(lab_.HostPort(1).Transmit(packet).ok());
  };
  send(mad::Method::kGet);
  lab_.timers.RunFor(absl::Milliseconds(250));
  send(mad::Method::kSet);
  EXPECT_EQ(Health()["managers"][0]["sweep"], (json{{"under_way", true},
                                                    {"seconds", 0.25},
                                                    {"ago", 0.0},
                                                    {"gets", 1},
                                                    {"sets", 1}}));
  lab_.timers.RunFor(absl::Seconds(5));
  EXPECT_EQ(Health()["managers"][0]["sweep"], (json{{"under_way", false},
                                                    {"seconds", 0.25},
                                                    {"ago", 5.0},
                                                    {"gets", 1},
                                                    {"sets", 1}}));
}

}  // namespace
}  // namespace ibemu::daemon
