// What the agents of a host see of the subnet, from send to receive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "mad/host.h"
#include "testing/lab.h"
#include "testing/mad_builder.h"
#include "testing/recording_client.h"

namespace ibemu::fabric {
namespace {

using mad::Agent, mad::AttributeId, mad::IncomingMessage, wire::Lid,
    mad::MadHeader, mad::MadStatus, mad::Method, mad::MgmtClass, mad::Smp;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;
using testing::Lab, testing::Chain, testing::DirectedGet, testing::LidGet;
using testing::RecordingClient;

constexpr absl::Duration kTimeout = absl::Milliseconds(100);

class HostOnFabricTest : public ::testing::Test {
 protected:
  explicit HostOnFabricTest(int switches = 1)
      : lab(Chain(switches), Lab::kStatically) {}

  static mad::Registration Server(MgmtClass mgmt_class,
                                  std::initializer_list<Method> methods) {
    mad::Registration wanted{
        .qp = mgmt_class == MgmtClass::kSubnetLidRouted ||
                      mgmt_class == MgmtClass::kSubnetDirectedRoute
                  ? 0
                  : 1,
        .mgmt_class = static_cast<uint8_t>(mgmt_class),
        .mgmt_class_version = 1};
    for (const Method method : methods) {
      wanted.methods.set(static_cast<size_t>(method));
    }
    return wanted;
  }
  std::unique_ptr<Agent> Register(mad::Host& host,
                                  const mad::Registration& wanted,
                                  RecordingClient& client) {
    auto agent = host.Register(1, wanted, client);
    EXPECT_TRUE(agent.ok()) << agent.status();
    return *std::move(agent);
  }
  std::unique_ptr<Agent> Asker(int qp) {
    return Register(host_1, {.qp = qp}, asker);
  }

  // What comes back for `packet`, as its sender's agent sees it.
  std::vector<IncomingMessage> Send(Agent& agent, const mad::Outgoing& packet,
                                    absl::Duration timeout = kTimeout) {
    asker.inbox.clear();
    asker.timed_out.clear();
    EXPECT_TRUE(agent
                    .Send({.to = packet.to,
                           .mad = {packet.mad.begin(), packet.mad.end()},
                           .timeout = timeout})
                    .ok());
    lab.timers.RunFor(absl::Seconds(1));
    return asker.inbox;
  }
  // Whether `packet` was lost, as a timeout shows.
  bool IsLost(Agent& agent, const mad::Outgoing& packet) {
    return Send(agent, packet).empty() && asker.timed_out.size() == 1;
  }
  static MadStatus StatusOf(const IncomingMessage& message) {
    return wire::Get<&MadHeader::status>(message.mad);
  }

  // As a program writes it: the hop pointer has not moved.
  static mad::Outgoing Directed(AttributeId attribute,
                                std::initializer_list<int> path) {
    mad::Outgoing packet = DirectedGet(attribute, path);
    wire::Put<&Smp::hop_pointer>(packet.mad, 0);
    return packet;
  }
  static mad::Outgoing Get(MgmtClass mgmt_class, AttributeId attribute,
                           Lid lid = Lid{2}) {
    const bool smp = mgmt_class == MgmtClass::kSubnetLidRouted;
    return LidGet(smp ? 0 : 1, mgmt_class, lid, attribute);
  }
  template <auto kMember, class T>
  static mad::Outgoing With(mad::Outgoing packet, T value) {
    wire::Put<kMember>(packet.mad, value);
    return packet;
  }

  Lab lab;
  mad::Host host_1{lab.timers, lab.fabric.device(lab.Host(1))};
  mad::Host host_2{lab.timers, lab.fabric.device(lab.Host(2))};
  RecordingClient asker, server;
};

// [q0_dr_local]
TEST_F(HostOnFabricTest, ARouteWithoutHopsIsAnsweredWithoutTheWire) {
  for (const int qp : {0, 1}) {
    auto agent = Asker(qp);
    const auto answers = Send(*agent, Directed(AttributeId::kNodeInfo, {}));
    ASSERT_THAT(answers, SizeIs(1)) << "QP" << qp;
    EXPECT_EQ(answers[0].slid, Lid::kPermissive);
    EXPECT_EQ(answers[0].source_qpn, 0u);
    EXPECT_EQ(answers[0].sl, 0);
    const Smp smp = wire::Decode<Smp>(answers[0].mad);
    EXPECT_EQ(smp.method, Method::kGetResp);
    EXPECT_EQ(smp.hop_pointer, 1);
    EXPECT_TRUE(smp.direction);
  }
  EXPECT_EQ(lab.fabric.totals().sent, 0u);
}

// [q0_dr_local_tmo0] [q0_lid_self]
TEST_F(HostOnFabricTest, WithoutTimeoutTheOwnSmaAnswersARouteAndNoLid) {
  auto agent = Asker(0);
  const mad::Outgoing by_lid =
      Get(MgmtClass::kSubnetLidRouted, AttributeId::kNodeInfo, Lid{1});
  EXPECT_THAT(
      Send(*agent, Directed(AttributeId::kNodeInfo, {}), absl::ZeroDuration()),
      SizeIs(1));
  EXPECT_THAT(Send(*agent, by_lid, absl::ZeroDuration()), IsEmpty());

  const auto answers = Send(*agent, by_lid);
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].slid, Lid{1});
}

// [q0_dr_local_noreply]
TEST_F(HostOnFabricTest, WithoutAnSmTheOwnSmInfoNeitherComesNorTimesOut) {
  auto agent = Asker(0);
  EXPECT_THAT(Send(*agent, Directed(AttributeId::kSmInfo, {})), IsEmpty());
  EXPECT_THAT(asker.timed_out, IsEmpty());
  EXPECT_THAT(asker.done, SizeIs(1));
}

// [q0_dr_local_sm]
TEST_F(HostOnFabricTest, TheSmOfThePortAnswersItsOwnSmInfo) {
  auto agent = Asker(0);
  auto sm = Register(
      host_1, Server(MgmtClass::kSubnetDirectedRoute, {Method::kGet}), server);
  EXPECT_THAT(Send(*agent, Directed(AttributeId::kSmInfo, {})), IsEmpty());
  ASSERT_THAT(server.inbox, SizeIs(1));
  EXPECT_EQ(server.inbox[0].slid, Lid::kPermissive);

  mad::OutgoingMessage answer{.to = {.dlid = Lid::kPermissive},
                              .mad = server.inbox[0].mad};
  wire::Put<&Smp::method>(std::span(answer.mad), Method::kGetResp);
  wire::Put<&Smp::direction>(std::span(answer.mad), true);
  ASSERT_TRUE(sm->Send(answer).ok());
  lab.timers.RunPending();
  ASSERT_THAT(asker.inbox, SizeIs(1));
  EXPECT_EQ(asker.inbox[0].slid, Lid::kPermissive);
  EXPECT_EQ(wire::Get<&Smp::hop_pointer>(asker.inbox[0].mad), 0);
}

// [q0_lid_peer]
TEST_F(HostOnFabricTest, TheSmaOfAPeerHasTheFirstRefusal) {
  auto agent = Asker(0);
  auto sm = Register(
      host_2, Server(MgmtClass::kSubnetLidRouted, {Method::kGet, Method::kSet}),
      server);
  const auto ask = [&](AttributeId attribute) {
    return Send(*agent, Get(MgmtClass::kSubnetLidRouted, attribute));
  };
  const auto answers = ask(AttributeId::kNodeInfo);
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].slid, Lid{2});
  EXPECT_EQ(StatusOf(answers[0]), MadStatus::kOk);

  const auto unknown = ask(AttributeId{0xff70});
  ASSERT_THAT(unknown, SizeIs(1));
  EXPECT_EQ(StatusOf(unknown[0]), MadStatus::kUnsupportedAttribute);
  EXPECT_THAT(server.inbox, IsEmpty());

  EXPECT_THAT(ask(AttributeId::kSmInfo), IsEmpty());
  EXPECT_THAT(server.inbox, SizeIs(1));
}

// [q0_pma]
TEST_F(HostOnFabricTest, ThePmaOfAPeerHasTheFirstRefusal) {
  auto agent = Asker(1);
  auto monitor = Register(host_2,
                          Server(MgmtClass::kPerformance,
                                 {Method::kGet, Method::kSet, Method::kSend}),
                          server);
  const auto ask = [&](AttributeId attribute) {
    return Send(*agent, Get(MgmtClass::kPerformance, attribute));
  };
  const auto answers = ask(AttributeId::kClassPortInfo);
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(StatusOf(answers[0]), MadStatus::kOk);
  const auto unknown = ask(AttributeId{0xff70});
  ASSERT_THAT(unknown, SizeIs(1));
  EXPECT_EQ(StatusOf(unknown[0]), MadStatus::kUnsupportedAttribute);
  EXPECT_THAT(server.inbox, IsEmpty());

  Send(*agent, With<&MadHeader::method>(
                   Get(MgmtClass::kPerformance, AttributeId::kClassPortInfo),
                   Method::kSend));
  EXPECT_THAT(server.inbox, SizeIs(1));
}

// [gen_unmatched]
TEST_F(HostOnFabricTest, APeersKernelRefusesWhatNoAgentWants) {
  auto agent = Asker(1);
  const auto answers =
      Send(*agent, Get(MgmtClass::kDevice, AttributeId::kClassPortInfo));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(StatusOf(answers[0]), MadStatus::kUnsupportedAttribute);
  EXPECT_TRUE(
      IsLost(*agent, With<&MadHeader::method>(
                         Get(MgmtClass::kDevice, AttributeId::kClassPortInfo),
                         Method::kGetTable)));
}

// [ver_mismatch]
TEST_F(HostOnFabricTest, AnotherClassVersionIsRefusedAnotherBaseVersionLost) {
  auto agent = Asker(1);
  auto peer =
      Register(host_2, Server(MgmtClass::kDevice, {Method::kGet}), server);
  const mad::Outgoing request =
      Get(MgmtClass::kDevice, AttributeId::kClassPortInfo);
  const auto answers =
      Send(*agent, With<&MadHeader::class_version>(request, uint8_t{2}));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(StatusOf(answers[0]), MadStatus::kUnsupportedAttribute);
  EXPECT_TRUE(
      IsLost(*agent, With<&MadHeader::base_version>(request, uint8_t{2})));
  EXPECT_THAT(server.inbox, IsEmpty());
}

// [smp_on_qp1] [q0_gsi_on_qp0]
TEST_F(HostOnFabricTest, AClassOnTheWrongQueuePairIsLost) {
  auto smi = Asker(0);
  auto gsi = Asker(1);
  auto sm = Register(
      host_2, Server(MgmtClass::kSubnetLidRouted, {Method::kGet}), server);
  auto peer =
      Register(host_2, Server(MgmtClass::kDevice, {Method::kGet}), server);
  mad::Outgoing smp = Get(MgmtClass::kSubnetLidRouted, AttributeId::kSmInfo);
  smp.to.qpn = 1;
  EXPECT_TRUE(IsLost(*gsi, smp));
  mad::Outgoing gmp = Get(MgmtClass::kDevice, AttributeId::kClassPortInfo);
  gmp.to.qpn = 0;
  EXPECT_TRUE(IsLost(*smi, gmp));
  EXPECT_THAT(server.inbox, IsEmpty());
}

// [dest_qpn]
TEST_F(HostOnFabricTest, WhatIsForAnotherQueuePairIsSentAndLost) {
  auto agent = Asker(1);
  for (const uint32_t qpn : {0u, 2u, 0xffffffu}) {
    mad::Outgoing packet = Get(MgmtClass::kDevice, AttributeId::kClassPortInfo);
    packet.to.qpn = qpn;
    EXPECT_TRUE(IsLost(*agent, packet)) << qpn;
  }
}

// [ib_sl_rx] [rx_header]
TEST_F(HostOnFabricTest, APeerSeesTheServiceLevelAndTheSender) {
  auto agent = Asker(1);
  auto peer =
      Register(host_2, Server(MgmtClass::kDevice, {Method::kSend}), server);
  mad::Outgoing packet = With<&MadHeader::method>(
      Get(MgmtClass::kDevice, AttributeId::kClassPortInfo), Method::kSend);
  packet.to.sl = 3;
  Send(*agent, packet);
  ASSERT_THAT(server.inbox, SizeIs(1));
  EXPECT_EQ(server.inbox[0].sl, 3);
  EXPECT_EQ(server.inbox[0].slid, Lid{1});
  EXPECT_EQ(server.inbox[0].source_qpn, 1u);
  EXPECT_EQ(server.inbox[0].path_bits, 0);
}

// [ib_grh_rx]
TEST_F(HostOnFabricTest, ARequestWithAGrhIsAnsweredWithOne) {
  auto agent = Asker(1);
  mad::Outgoing packet = Get(MgmtClass::kDevice, AttributeId::kClassPortInfo);
  packet.to.grh = mad::GlobalRoute{.gid = lab.HostPort(2).GidAt(0),
                                   .flow_label = 0xabcde,
                                   .hop_limit = 7,
                                   .traffic_class = 9};
  const auto answers = Send(*agent, packet);
  ASSERT_THAT(answers, SizeIs(1));
  const mad::GlobalRoute expected{.gid = lab.HostPort(2).GidAt(0),
                                  .flow_label = 0xabcde,
                                  .gid_index = 0,
                                  .hop_limit = 255,
                                  .traffic_class = 9};
  EXPECT_EQ(answers[0].grh, expected);
}

// [ah_errors] [dgid0]
TEST_F(HostOnFabricTest, AGidThatThePeerDoesNotHaveLosesTheMad) {
  auto agent = Asker(1);
  auto peer =
      Register(host_2, Server(MgmtClass::kDevice, {Method::kGet}), server);
  mad::Outgoing packet = Get(MgmtClass::kDevice, AttributeId::kClassPortInfo);
  for (const wire::Gid& gid :
       {wire::Gid{}, wire::Gid{wire::kDefaultGidPrefix, 0},
        wire::Gid{wire::kDefaultGidPrefix, 0x9999}, wire::Gid{7, 0x2001}}) {
    packet.to.grh = mad::GlobalRoute{.gid = gid};
    EXPECT_TRUE(IsLost(*agent, packet));
  }
  EXPECT_THAT(server.inbox, IsEmpty());
  packet.to.grh = mad::GlobalRoute{.gid_index = 200};
  EXPECT_EQ(agent
                ->Send({.to = packet.to,
                        .mad = {packet.mad.begin(), packet.mad.end()}})
                .code(),
            absl::StatusCode::kInvalidArgument);
}

class NeighboursTest : public HostOnFabricTest {
 protected:
  NeighboursTest() : HostOnFabricTest(/*switches=*/0) {}
};

// [q0_dr_hop1]
TEST_F(NeighboursTest, AnswersOverOneHopFromItsOwnLid) {
  auto agent = Asker(0);
  const auto answers = Send(*agent, Directed(AttributeId::kNodeInfo, {1}));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].slid, Lid{2});
  const Smp smp = wire::Decode<Smp>(answers[0].mad);
  EXPECT_EQ(smp.hop_pointer, 0);
  EXPECT_EQ(smp.return_path[1], 1);
  EXPECT_TRUE(smp.direction);
}

// [q0_dr_beyond_ca]
TEST_F(NeighboursTest, LetNothingThrough) {
  auto agent = Asker(0);
  EXPECT_TRUE(IsLost(*agent, Directed(AttributeId::kNodeInfo, {1, 1})));
}

// [resp_routing]
TEST_F(NeighboursTest, AnswersReachThePathBitsThatAsked) {
  lab.PortOf(lab.Host(1), 1).info.lmc = 1;
  lab.PortOf(lab.Host(1), 1).info.lid = Lid{4};
  mad::Host host(lab.timers, lab.fabric.device(lab.Host(1)));
  auto agent = Register(host, {.qp = 1}, asker);
  for (const uint8_t path_bits : {0, 1}) {
    mad::Outgoing packet = Get(MgmtClass::kDevice, AttributeId::kClassPortInfo);
    packet.to.path_bits = path_bits;
    const auto answers = Send(*agent, packet);
    ASSERT_THAT(answers, SizeIs(1));
    EXPECT_EQ(answers[0].path_bits, path_bits);
  }
}

}  // namespace
}  // namespace ibemu::fabric
