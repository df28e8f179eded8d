#include "daemon/connections/connection_methods.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/daemon/connections/two_programs.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using rdma_cm::PortSpace;
using ::testing::HasSubstr, ::testing::SizeIs;

class ConnectionMethodsTest : public TwoProgramsTest, protected MethodCaller {
 protected:
  ConnectionMethodsTest() { methods_.AddTo(dispatcher); }

  json StatusOf(const char* node) {
    const json status = Result("node.status", {{"node", node}});
    EXPECT_THAT(status["adapters"], SizeIs(1));
    return status["adapters"][0];
  }

  ConnectionMethods methods_{connections_};
};

TEST_F(ConnectionMethodsTest, AHostHasItsAddressesBeforeAnybodyUsesThem) {
  const json status = StatusOf("node-3");
  EXPECT_EQ(status["node"], "node-3");
  EXPECT_EQ(status["ports"], json::parse(R"([{"port": 1, "interface": null,
              "addresses": ["198.18.0.3/16", "fd1b:e000:0:1::3/64"]}])"));
  EXPECT_EQ(status["listeners"], json::array());
  EXPECT_EQ(status["connections"], json::array());
  EXPECT_EQ(StatusOf("node-1")["ports"][0]["interface"], "up");
}

TEST_F(ConnectionMethodsTest, HostsHaveNamesAndAddresses) {
  const json names = Result("node.names", json::object());
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names[0], json::parse(R"({"node": "node-1",
                                      "address": "198.18.0.1",
                                      "link_local": "169.254.1.0/16"})"));
}

TEST_F(ConnectionMethodsTest, ListenersStandInTheOrderOfTheirPorts) {
  server_.Listen(2000, PortSpace::kUdp);
  server_.Listen(8000);
  server_.Listen(kPort);
  const json status = StatusOf("node-1");
  EXPECT_EQ(status["listener_count"], 3);
  EXPECT_EQ(status["listeners"], json::parse(R"([
    {"space": "RDMA_PS_TCP", "address": "0.0.0.0", "port": 7174,
     "service_id": "0x0000000001061c06", "pid": 4711},
    {"space": "RDMA_PS_TCP", "address": "0.0.0.0", "port": 8000,
     "service_id": "0x0000000001061f40", "pid": 4711},
    {"space": "RDMA_PS_UDP", "address": "0.0.0.0", "port": 2000,
     "service_id": "0x00000000011107d0", "pid": 4711}])"));
  server_.Close();
  EXPECT_EQ(StatusOf("node-1")["listeners"], json::array());
}

TEST_F(ConnectionMethodsTest, BothEndsOfAConnectionAreSeen) {
  const auto [active, passive] = Establish();
  ASSERT_EQ(StatusOf("node-2")["connection_count"], 1);
  const json asker = StatusOf("node-2")["connections"][0];
  json asked = StatusOf("node-1")["connections"][0];
  EXPECT_EQ(asked["local"], asker["remote"]);
  EXPECT_EQ(asked["remote"], asker["local"]);
  EXPECT_EQ(asked["asked_by"], "remote");
  EXPECT_EQ(asker["asked_by"], "local");
  EXPECT_EQ(asker["pid"], 4712);
  EXPECT_GT(asked["remote"]["port"], 1023);
  asked["remote"].erase("port");
  EXPECT_EQ(asked, json::parse(R"(
    {"space": "RDMA_PS_TCP", "service_id": "0x0000000001061c06", "pid": 4711,
     "state": "established", "asked_by": "remote",
     "local": {"node": "node-1", "address": "198.18.0.1", "port": 7174,
               "qpn": 33},
     "remote": {"node": "node-2", "address": "198.18.0.2", "qpn": 33}})"));
  EXPECT_EQ(client_.id(active).Disconnect(), rdma_cm::Refusal::kNone);
  EXPECT_EQ(StatusOf("node-2")["connections"][0]["state"], "DREQ sent");
  client_.Settle();
  EXPECT_EQ(StatusOf("node-1")["connections"][0]["state"], "DREQ received");
}

TEST_F(ConnectionMethodsTest, DatagramsAreAnswered) {
  server_.Listen(kPort, PortSpace::kUdp);
  client_.Connect(Address(1), PortSpace::kUdp);
  EXPECT_EQ(StatusOf("node-2")["connections"][0]["state"], "SIDR_REQ sent");
  server_.Accept();
  for (const char* host : {"node-1", "node-2"}) {
    EXPECT_EQ(StatusOf(host)["connections"][0]["state"], "answered") << host;
  }
}

TEST_F(ConnectionMethodsTest, MoreThanOneReadsIsCounted) {
  constexpr int kMany = 1003;
  for (uint16_t port = 2000; port < 2000 + kMany; ++port) server_.Listen(port);
  const json status = StatusOf("node-1");
  EXPECT_EQ(status["listener_count"], kMany);
  EXPECT_THAT(status["listeners"], SizeIs(ConnectionMethods::kMax));
}

TEST_F(ConnectionMethodsTest, EachAdapterElsewhereHasASeedOfItsOwn) {
  const json seed = StatusOf("node-1")["seed_elsewhere"];
  EXPECT_EQ(StatusOf("node-1")["seed_elsewhere"], seed);
  EXPECT_NE(StatusOf("node-2")["seed_elsewhere"], seed);
}

TEST_F(ConnectionMethodsTest, MistakesSayWhatWasMeant) {
  EXPECT_THAT(Error("node.status", {{"node", "nod-1"}}),
              HasSubstr("did you mean \"node-1\"?"));
  EXPECT_EQ(Error("node.status", {{"node", "switch-1"}}),
            "switch-1: only channel adapters have addresses and connections");
}

}  // namespace
}  // namespace ibemu::daemon
