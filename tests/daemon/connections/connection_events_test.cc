#include "daemon/connections/connection_events.h"

#include <string>
#include <vector>

#include "daemon/events/event_text.h"
#include "daemon/events/fabric_event_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/daemon/connections/two_programs.h"
#include "tests/daemon/event_recorder.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using rdma_cm::PortSpace, rdma_cm::Refusal;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::MatchesRegex,
    ::testing::SizeIs;

class Nobody final : public rdma_cm::ConnectionWatcher {
 public:
  void OnConnection(const rdma_cm::Id&,
                    const rdma_cm::ConnectionNews&) override {}
  void OnGroup(const rdma_cm::GroupNews&) override {}
};

class ConnectionEventsTest : public TwoProgramsTest, protected MethodCaller {
 protected:
  ConnectionEventsTest() {
    for (const char* host : {"node-1", "node-2"}) {
      connections_.Get(AdapterOf(host))->ids().SetWatcher(told_);
    }
    log_.Add(recorder_);
    history_.AddTo(dispatcher);
  }
  ~ConnectionEventsTest() override {
    server_.Close();
    client_.Close();
    log_.Remove(recorder_);
  }

  // The lines about connections, datagrams and groups since the last call, as
  // people read them, without their times; "PORT" is one that somebody chose.
  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    for (json event : recorder_.events) {
      const std::string kind = event["event"];
      if (kind != "connection" && kind != "datagram" && kind != "group") {
        continue;
      }
      for (const char* end : {"from", "to"}) {
        if (event.contains(end) && event[end]["port"] > 20000) {
          event[end]["port"] = "PORT";
        }
      }
      lines.push_back(EventText(event).substr(15));
    }
    recorder_.events.clear();
    return lines;
  }

  FabricEventLog log_{lab_.timers, lab_.fabric, absl::ZeroDuration()};
  ConnectionHistory history_{adapters_};
  ConnectionEvents told_{connections_, log_, history_};
  EventRecorder recorder_;
  Nobody nobody_;
};

const std::string kEnds =
    "connection  node-2 198.18.0.2:PORT -> node-1 198.18.0.1:7174 RDMA_PS_TCP ";

TEST_F(ConnectionEventsTest, AConnectionIsToldOnceFromItsBeginningToItsEnd) {
  const auto [active, passive] = Establish();
  EXPECT_THAT(Lines(), ElementsAre(kEnds + "asked", kEnds + "established"));
  EXPECT_EQ(client_.id(active).Disconnect(), Refusal::kNone);
  client_.Settle();
  EXPECT_EQ(server_.id(passive).Disconnect(), Refusal::kNone) << "a DREP";
  server_.Settle();
  EXPECT_THAT(Lines(), ElementsAre(kEnds + "disconnected by node-2"));
  server_.Close();
  client_.Close();
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(ConnectionEventsTest, AProgramHasTheFieldsByTheirNames) {
  Establish();
  ASSERT_THAT(recorder_.Of("connection"), SizeIs(2));
  json event = recorder_.Of("connection")[1];
  EXPECT_GT(event["from"]["port"], 1023);
  event["from"].erase("port");
  EXPECT_EQ(
      event,
      (json{{"state", "established"},
            {"from", {{"node", "node-2"}, {"address", "198.18.0.2"}}},
            {"to",
             {{"node", "node-1"}, {"address", "198.18.0.1"}, {"port", 7174}}},
            {"space", "RDMA_PS_TCP"},
            {"service_id", "0x0000000001061c06"},
            {"pid", 4712}}));
}

TEST_F(ConnectionEventsTest, WhatFailsIsKeptForWhoAsksLater) {
  log_.Remove(recorder_);
  Establish();
  client_.Connect(Address(1, 9));
  log_.Add(recorder_);
  EXPECT_THAT(Lines(), IsEmpty()) << "nobody listened";
  for (const char* node : {"node-1", "node-2"}) {
    const json kept = Result("connection.why", {{"node", node}})["failures"];
    ASSERT_THAT(kept, SizeIs(1)) << node;
    EXPECT_EQ(kept[0]["event"], "connection");
    EXPECT_EQ(kept[0]["state"], "rejected");
    EXPECT_EQ(kept[0]["why"], "invalid service ID");
    EXPECT_TRUE(kept[0].contains("time_ns"));
  }
  EXPECT_THAT(Result("connection.why", {{"pid", 4712}})["failures"], SizeIs(1));
  EXPECT_THAT(Result("connection.why", {{"pid", 4711}})["failures"], IsEmpty());
  EXPECT_EQ(Error("connection.why", {{"node", "node-9"}}),
            "no node \"node-9\": did you mean \"node-1\"?");
}

TEST_F(ConnectionEventsTest, WhatBecameOfAConnectionIsKeptInItsOrder) {
  log_.Remove(recorder_);
  const auto [active, passive] = Establish();
  EXPECT_EQ(client_.id(active).Disconnect(), Refusal::kNone);
  client_.Settle();
  client_.Connect(Address(1, 9));
  log_.Add(recorder_);
  const auto states = [this](const char* node, bool all) {
    std::vector<std::string> states;
    const json told = Result("connection.why", {{"node", node}, {"all", all}});
    EXPECT_EQ(told.contains("events"), all);
    for (const json& event : told[all ? "events" : "failures"]) {
      states.push_back(event["state"]);
    }
    return states;
  };
  for (const char* node : {"node-1", "node-2"}) {
    EXPECT_THAT(states(node, false), ElementsAre("rejected"));
    EXPECT_THAT(states(node, true),
                ElementsAre("asked", "established", "disconnected", "asked",
                            "rejected"));
  }
}

TEST_F(ConnectionEventsTest, OfWhatWentWellTheLastAreKept) {
  for (size_t i = 0; i <= ConnectionHistory::kMax; ++i) {
    client_.Connect(Address(1, 9));
  }
  const json told =
      Result("connection.why", {{"node", "node-2"}, {"all", true}});
  EXPECT_THAT(told["failures"], SizeIs(ConnectionHistory::kMax));
  EXPECT_THAT(told["events"], SizeIs(2 * ConnectionHistory::kMax));
}

TEST_F(ConnectionEventsTest, ARejectionSaysWhy) {
  server_.Listen(kPort);
  client_.Connect(Address(1, 9));
  EXPECT_THAT(Lines(),
              ElementsAre("connection  node-2 198.18.0.2:PORT -> node-1 "
                          "198.18.0.1:9 RDMA_PS_TCP asked",
                          "connection  node-2 198.18.0.2:PORT -> node-1 "
                          "198.18.0.1:9 RDMA_PS_TCP rejected by node-1: "
                          "invalid service ID (8)"));
  client_.Connect(Address(1));
  server_.Close();
  client_.Settle();
  EXPECT_THAT(Lines(), ElementsAre(kEnds + "asked",
                                   kEnds + "rejected by node-1: consumer "
                                           "reject (28)"));
}

TEST_F(ConnectionEventsTest, WhoEndsWithoutAWordHasDisconnectedOrGivenUp) {
  Establish();
  Lines();
  server_.Close();
  client_.Settle();
  EXPECT_THAT(Lines(), ElementsAre(kEnds + "disconnected by node-1"));
  const uint32_t routed = client_.Route(Address(1));
  lab_.SetLink(lab_.Find("node-1"), 1, false);
  client_.ConnectRouted(routed);
  client_.Close();
  EXPECT_THAT(Lines(), ElementsAre(kEnds + "asked", kEnds + "abandoned"));
}

TEST_F(ConnectionEventsTest, WhatIsNotAnsweredTimesOut) {
  const uint32_t to_nobody = client_.Create(PortSpace::kTcp);
  EXPECT_EQ(client_.id(to_nobody).ResolveAddress({}, Address(77),
                                                 absl::Seconds(2), false),
            Refusal::kNone);
  lab_.timers.RunFor(absl::Seconds(3));
  EXPECT_THAT(Lines(),
              ElementsAre("connection  node-2 198.18.0.2:PORT -> "
                          "198.18.0.77:7174 RDMA_PS_TCP no address: nobody "
                          "answered"));
  const auto [active, passive] = Establish();
  Lines();
  lab_.SetLink(lab_.Find("node-1"), 1, false);
  EXPECT_EQ(client_.id(active).Disconnect(), Refusal::kNone);
  lab_.timers.RunFor(absl::Minutes(5));
  EXPECT_THAT(Lines(), ElementsAre(kEnds + "disconnected by node-2",
                                   kEnds + "timed out: no DREP came"));
}

TEST_F(ConnectionEventsTest, AnAddressWithoutAPathIsTold) {
  Establish();
  Lines();
  lab_.SetLink(lab_.Find("node-1"), 1, false);
  lab_.timers.RunFor(absl::Seconds(1));
  client_.Route(Address(1));
  EXPECT_THAT(Lines(), ElementsAre(kEnds + "no path: subnet administration "
                                           "has none"));
}

TEST_F(ConnectionEventsTest, AConnectionThatItsPeerHasForgottenIsStale) {
  Establish();
  // node-2 ends, and nobody hears of it.
  lab_.SetLink(lab_.Find("node-2"), 1, false);
  client_.Close();
  lab_.SetLink(lab_.Find("node-2"), 1, true);
  lab_.timers.RunFor(absl::Seconds(5));
  Lines();
  HostProgram again(lab_, connections_, AdapterOf("node-2"), 4713);
  lab_.timers.RunFor(absl::Seconds(5));
  again.Connect(Address(1));
  again.Settle();
  EXPECT_THAT(Lines(),
              ElementsAre(kEnds + "asked",
                          kEnds + "rejected by node-1: stale connection (10)",
                          kEnds + "stale: the peer has forgotten it"));
}

TEST_F(ConnectionEventsTest, WhoWasAskedTellsItWhereTheAskerIsNotOfThisDaemon) {
  // As if node-2 were a guest's: its end is not known here.
  connections_.Get(AdapterOf("node-2"))->ids().SetWatcher(nobody_);
  const AddressPlan no_addresses;
  ConnectionTable others(lab_.timers, hosts_, no_addresses, /*seed=*/1);
  ConnectionHistory kept(adapters_);
  ConnectionEvents alone(others, log_, kept);
  connections_.Get(AdapterOf("node-1"))->ids().SetWatcher(alone);
  Establish();
  EXPECT_THAT(Lines(), ElementsAre(kEnds + "established"));
  client_.Close();
  client_.Settle();
  EXPECT_THAT(Lines(), ElementsAre(kEnds + "disconnected by node-2"));
  server_.Close();
}

TEST_F(ConnectionEventsTest, DatagramsAreAnsweredOrRefused) {
  const std::string ends =
      "datagram    node-2 198.18.0.2:PORT -> node-1 198.18.0.1:7174 "
      "RDMA_PS_UDP ";
  server_.Listen(kPort, PortSpace::kUdp);
  client_.Connect(Address(1), PortSpace::kUdp);
  server_.Accept();
  EXPECT_THAT(Lines(), ElementsAre(ends + "asked", ends + "answered"));
  client_.Connect(Address(1), PortSpace::kUdp);
  server_.Close();
  client_.Settle();
  EXPECT_THAT(Lines(),
              ElementsAre(ends + "asked", ends + "refused by node-1: rejected "
                                                 "by provider (2)"));
}

TEST_F(ConnectionEventsTest, GroupsAreJoinedAndLeft) {
  const uint32_t member = client_.Create(PortSpace::kUdp);
  EXPECT_EQ(client_.id(member).Bind(Address(2, 0), false), Refusal::kNone);
  const auto group =
      rdma_cm::SocketAddress::Ip(wire::IpAddress::Ipv4(0xe0010101), 0);
  const auto join = client_.channel().Join(*client_.channel().Find(member), 7,
                                           group, mad::kFullMember);
  ASSERT_TRUE(join.ok());
  client_.Settle();
  EXPECT_TRUE(client_.channel().Leave(*join).ok());
  EXPECT_THAT(
      Lines(),
      ElementsAre("group       node-2/1 224.1.1.1 ff12:4001:ffff::1:101 joined",
                  "group       node-2/1 224.1.1.1 ff12:4001:ffff::1:101 left"));
}

TEST_F(ConnectionEventsTest, WithoutAListenerNothingIsTold) {
  log_.Remove(recorder_);
  Establish();
  log_.Add(recorder_);
  EXPECT_THAT(Lines(), IsEmpty());
}

}  // namespace
}  // namespace ibemu::daemon
