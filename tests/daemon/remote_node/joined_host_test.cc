// A host of one fabric whose adapter is in another.
#include "daemon/remote_node/joined_host.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "daemon/remote_node/fabric_cable.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/format/node_link_splitter.h"
#include "daemon/remote_node/format/packet_train.h"
#include "daemon/remote_node/node_link_host.h"
#include "daemon/remote_node/remote_cable.h"
#include "fabric/packet/packet_parser.h"
#include "fabric/packet/transport.h"
#include "fabric/subnet/fabric_watcher.h"
#include "launch/pass_descriptor.h"
#include "mad/wire/node_info.h"
#include "mad/wire/notice.h"
#include "mad/wire/smp.h"
#include "testing/inbox.h"
#include "testing/lab.h"
#include "testing/mad_builder.h"
#include "testing/socket_pair.h"
#include "testing/verbs_end.h"
#include "tests/daemon/virtual_loop.h"

namespace ibemu::daemon {
namespace {

using mad::AttributeId, mad::PortState, mad::Smp;
using testing::Chain, testing::Inbox, testing::VerbsEnd;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;
using topology::NodeId;

constexpr NodeId kNode{0}, kBeyond{1};

// Asks the agents of the host as a program there does.
Smp Ask(fabric::Fabric& fabric, const Smp& request) {
  mad::Arrival arrival;
  wire::Encode(request, arrival.mad);
  mad::MadBytes reply{};
  EXPECT_EQ(fabric.device(kNode).port(1).ProcessLocal(arrival, reply),
            mad::LocalVerdict::kReply);
  const auto answer = wire::Decode<Smp>(reply);
  EXPECT_EQ(answer.status, mad::MadStatus::kOk);
  return answer;
}

// The other fabric is a lab: host-1 - sw1 - host-2, and host-2's adapter is
// here.
class JoinedHostTest : public ::testing::Test {
 protected:
  JoinedHostTest() {
    auto remote = PlugIn();
    EXPECT_TRUE(remote.ok()) << remote.status();
    host_ = std::make_unique<JoinedHost>(
        loop_, fabric_, kNode, kBeyond,
        JoinedHost::Ways{[this](auto done) { done(PlugIn()); },
                         {},
                         [this](const auto&, uint32_t number, auto met) {
                           number_ = number;
                           met_ = std::move(met);
                         }},
        *std::move(remote));
    EXPECT_TRUE(host_->Start().ok());
    Settle();
  }

  absl::StatusOr<std::unique_ptr<RemoteCables>> PlugIn() {
    if (gone_) return absl::UnavailableError("no daemon");
    auto [near, far] = testing::SocketPair();
    auto cables = FabricCables::Plug(lab_.fabric, lab_.Host(2));
    if (!cables.ok()) return cables.status();
    there_ = std::make_unique<NodeLinkHost>(loop_, *std::move(cables),
                                            std::move(far));
    there_->ServeDaemon();
    EXPECT_TRUE(there_->Start().ok());
    UniqueFd line;
    std::tie(line_, line) = testing::SocketPair();
    return RemoteCables::Adopt(std::move(near), absl::InfiniteDuration(),
                               RemoteCables::Side::kDaemon, std::move(line),
                               "token");
  }
  // As the two processes between the machines do.
  void ConnectPackets() {
    const auto [near, far] = testing::SocketPair();
    ASSERT_TRUE(launch::SendDescriptor(line_.get(), near.get()).ok());
    ASSERT_TRUE(
        there_->ConnectPackets(UniqueFd(fcntl(far.get(), F_DUPFD_CLOEXEC, 0)))
            .ok());
    line_.Reset();
    Settle();
    packets_ = UniqueFd(fcntl(near.get(), F_DUPFD_CLOEXEC, 0));
  }
  // The same when the host has asked for another one.  Returns the subnet's
  // daemon's end, too.
  UniqueFd ConnectPacketsAgain() {
    lab_.timers.RunFor(JoinedPackets::kFirstDelay);
    auto [near, far] = testing::SocketPair();
    UniqueFd copy(fcntl(far.get(), F_DUPFD_CLOEXEC, 0));
    met_(std::move(near));
    EXPECT_TRUE(there_->ConnectPackets(std::move(far), number_).ok());
    Settle();
    return copy;
  }
  // Messages of many packets, both ways.
  void ExpectThatQueuePairsTalk();

  void Settle() {
    for (int turn = 0; turn < 50; ++turn) loop_.Poll();
  }
  PortState State() { return fabric_.device(kNode).port(1).Info().port_state; }

  testing::Lab lab_{Chain(1), testing::Lab::kStatically};
  UniqueFd packets_;     // the host's end of its first connection
  UniqueFd line_;        // by which the host gets its packets' connection
  uint32_t number_ = 0;  // of the one that it has asked for
  HostLeases::Met met_;  // takes that one
  bool gone_ = false;    // the other daemon
  VirtualLoop loop_{lab_.timers};
  fabric::Fabric fabric_{Chain(0), lab_.timers, {}};
  std::unique_ptr<NodeLinkHost> there_;
  std::unique_ptr<JoinedHost> host_;
};

TEST_F(JoinedHostTest, IsWhatItIsInTheOtherFabric) {
  const mad::PortInfo info = fabric_.device(kNode).port(1).Info();
  EXPECT_EQ(info.port_state, PortState::kActive);
  EXPECT_EQ(info.lid, lab_.LidOf("host-2"));
  lab_.PortOf("host-2", 1).SetPKey(3, 0x8001);
  lab_.fabric.SetLid(lab_.IdOf("host-2", 1), wire::Lid{40}, 2);
  Settle();
  mad::Port& port = fabric_.device(kNode).port(1);
  EXPECT_EQ(port.Info().lid, wire::Lid{40});
  EXPECT_EQ(port.PKeyAt(3), 0x8001);
}

void JoinedHostTest::ExpectThatQueuePairsTalk() {
  VerbsEnd one(lab_.timers, lab_.Provider(1), {.rights = VerbsEnd::kAllRights});
  VerbsEnd other(lab_.timers, fabric_.provider(kNode),
                 {.rights = VerbsEnd::kAllRights});
  VerbsEnd::Join(one, other);
  constexpr size_t kSize = 100'000;  // of many packets
  const std::string text = testing::Pattern(kSize);
  one.memory->Put(0, text);
  ASSERT_TRUE(other.Receive(0, kSize).ok());
  ASSERT_TRUE(one.Send(0, kSize).ok());
  Settle();
  EXPECT_EQ(other.memory->Text(0, kSize), text);
  EXPECT_THAT(one.PollStatuses(), ElementsAre(0u));
  ASSERT_TRUE(other.Rdma(IB_UVERBS_WR_RDMA_READ, kSize, kSize, one, 0).ok());
  ASSERT_TRUE(
      other.Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, kSize, one, 2 * kSize).ok());
  Settle();
  EXPECT_EQ(other.memory->Text(kSize, kSize), text);
  EXPECT_EQ(one.memory->Text(2 * kSize, kSize), text);
  EXPECT_THAT(other.PollStatuses(), ElementsAre(0u, 0u, 0u));
}

TEST_F(JoinedHostTest, ItsQueuePairsTalkToThoseOfTheOtherFabric) {
  ExpectThatQueuePairsTalk();
}

TEST_F(JoinedHostTest, ItsQueuePairsTalkByAConnectionOfTheirOwn) {
  ConnectPackets();
  EXPECT_TRUE(there_->has_packet_connection());
  ExpectThatQueuePairsTalk();
}

TEST_F(JoinedHostTest, ItsQueuePairsTalkByAnotherConnectionWhenThatOneEnds) {
  ConnectPackets();
  shutdown(packets_.get(), SHUT_RDWR);
  Settle();
  EXPECT_FALSE(there_->has_packet_connection());
  ExpectThatQueuePairsTalk();
  ConnectPacketsAgain();
  EXPECT_EQ(number_, 2u);
  EXPECT_TRUE(there_->has_packet_connection());
  ExpectThatQueuePairsTalk();
  EXPECT_EQ(State(), PortState::kActive);
}

// As when the network was cut, and the other daemon has sent nothing since.
TEST_F(JoinedHostTest,
       ItsOtherConnectionTakesThePlaceOfOneThatHasNotEndedThere) {
  ConnectPackets();
  shutdown(packets_.get(), SHUT_RD);
  Settle();
  EXPECT_TRUE(there_->has_packet_connection());
  UniqueFd far = ConnectPacketsAgain();
  EXPECT_TRUE(there_->has_packet_connection());
  ExpectThatQueuePairsTalk();
  shutdown(far.get(), SHUT_RDWR);
  Settle();
  EXPECT_FALSE(there_->has_packet_connection());
  ExpectThatQueuePairsTalk();
}

TEST_F(JoinedHostTest, ADaemonThatComesAnewBringsItsOwnConnection) {
  ConnectPackets();
  there_.reset();
  Settle();
  lab_.timers.RunFor(JoinedHost::kRetry);
  Settle();
  EXPECT_FALSE(there_->has_packet_connection());
  ExpectThatQueuePairsTalk();
  ConnectPackets();
  EXPECT_TRUE(there_->has_packet_connection());
  ExpectThatQueuePairsTalk();
}

struct TrapWatcher : fabric::FabricWatcher {
  void OnPortChange(fabric::PortId) override {}
  void OnDrop(const fabric::DroppedPacket&) override {}
  void OnTrap(fabric::PortId port, const mad::Notice& notice, bool) override {
    traps.emplace_back(port, notice.trap_number);
  }

  std::vector<std::pair<fabric::PortId, mad::TrapNumber>> traps;
};

TEST_F(JoinedHostTest, APacketWithAWrongKeyIsCountedAndToldWhereTheSubnetIs) {
  lab_.PortOf("host-2", 1).info.master_sm_lid = lab_.LidOf("host-1");
  TrapWatcher watcher;
  lab_.fabric.AddWatcher(watcher);
  fabric::Packet packet;
  packet.slid = lab_.LidOf("host-1");
  packet.dlid = lab_.LidOf("host-2");
  packet.destination_qpn = 1;
  packet.q_key = mad::kQp1QKey;
  packet.p_key = 0x1234;
  lab_.fabric.SendFrom(lab_.IdOf("host-1", 1), packet);
  packet.p_key = 0xffff;
  packet.q_key = 7;
  lab_.fabric.SendFrom(lab_.IdOf("host-1", 1), packet);
  Settle();
  lab_.fabric.RemoveWatcher(watcher);
  const mad::PortInfo& info = lab_.PortOf("host-2", 1).info;
  EXPECT_EQ(info.p_key_violations, 1);
  EXPECT_EQ(info.q_key_violations, 1);
  const fabric::PortId port = lab_.IdOf("host-2", 1);
  EXPECT_THAT(watcher.traps,
              ElementsAre(std::pair(port, mad::TrapNumber::kBadPKey),
                          std::pair(port, mad::TrapNumber::kBadQKey)));
}

TEST_F(JoinedHostTest, IsNotAskedForWhatTheOtherFabricKnows) {
  const auto told = lab_.Send(testing::LidGet(
      0, mad::MgmtClass::kSubnetLidRouted, lab_.LidOf("host-2"),
      AttributeId::kNodeDescription));  // the loop did not run meanwhile
  EXPECT_THAT(told, SizeIs(1));
}

TEST_F(JoinedHostTest, ACutLinkThereIsDownHere) {
  lab_.SetLink(lab_.Host(2), 1, false);
  Settle();
  EXPECT_EQ(State(), PortState::kDown);
  lab_.SetLink(lab_.Host(2), 1, true);
  Settle();
  EXPECT_EQ(State(), PortState::kActive);
}

TEST_F(JoinedHostTest, ItsPortsAreDownWhileTheOtherFabricIsGone) {
  there_.reset();
  gone_ = true;
  Settle();
  EXPECT_EQ(State(), PortState::kDown);
  lab_.timers.RunFor(10 * JoinedHost::kRetry);
  EXPECT_EQ(State(), PortState::kDown);
  gone_ = false;
  lab_.timers.RunFor(JoinedHost::kRetry);
  Settle();
  EXPECT_EQ(State(), PortState::kActive);
}

// opensm would wait for ever for an answer of its own port's.
TEST_F(JoinedHostTest, AnswersItselfWhileTheOtherFabricIsGone) {
  there_.reset();
  gone_ = true;
  Settle();
  const Smp node = Ask(fabric_, {.method = mad::Method::kGet,
                                 .attr_id = AttributeId::kNodeInfo});
  EXPECT_EQ(wire::Decode<mad::NodeInfo>(node.data).node_guid,
            fabric_.device(kNode).node_guid());
  const Smp get{.method = mad::Method::kGet, .attr_id = AttributeId::kPortInfo};
  auto info = wire::Decode<mad::PortInfo>(Ask(fabric_, get).data);
  EXPECT_EQ(info.port_state, PortState::kDown);
  info.port_state = PortState::kNoChange;
  info.port_physical_state = mad::PortPhysicalState::kPolling;
  Smp set{.method = mad::Method::kSet, .attr_id = AttributeId::kPortInfo};
  wire::Encode(info, set.data);
  Ask(fabric_, set);
  lab_.timers.RunFor(JoinedHost::kRetry);
  EXPECT_EQ(State(), PortState::kDown) << "there is nothing to train with";
}

TEST_F(JoinedHostTest, IsWhatProgramsMadeOfItInADaemonThatComesAnew) {
  const auto is_sm = [this] {
    const mad::PortInfo info = lab_.PortOf("host-2", 1).info;
    return (info.capability_mask & mad::capability::kIsSm) != 0;
  };
  const auto description = [this] {
    return lab_.fabric.device(lab_.Host(2)).node_description();
  };
  fabric_.device(kNode).port(1).SetIsSm(true);
  fabric_.device(kNode).SetNodeDescription("weaver mlx5_0");
  Settle();
  EXPECT_TRUE(is_sm());
  EXPECT_EQ(description(), "weaver mlx5_0");
  there_.reset();
  EXPECT_FALSE(is_sm());
  EXPECT_EQ(description(), "host-2");
  Settle();
  lab_.timers.RunFor(JoinedHost::kRetry);
  Settle();
  EXPECT_TRUE(is_sm());
  EXPECT_EQ(description(), "weaver mlx5_0");
}

// The link there may be up again before what was sent would have arrived.
TEST_F(JoinedHostTest, WhatIsOnItsWayIsLostWhenTheLinkGoesDown) {
  const uint16_t before =
      fabric_.subnet().port(fabric_.subnet().port_id(kNode, 1)).link_epoch;
  lab_.SetLink(lab_.Host(2), 1, false);
  Settle();
  for (const NodeId node : {kNode, kBeyond}) {
    const fabric::PortId port = fabric_.subnet().port_id(node, 1);
    EXPECT_EQ(fabric_.subnet().port(port).link_epoch, before + 1);
  }
}

TEST_F(JoinedHostTest, TheNodeIsTheOtherFabricsAgainWhenItEnds) {
  host_.reset();
  Settle();
  EXPECT_TRUE(there_->ended());
}

// The other daemon is the test itself.
class JoinedHostsAgentsTest : public ::testing::Test {
 protected:
  explicit JoinedHostsAgentsTest(
      absl::Duration patience = absl::InfiniteDuration()) {
    UniqueFd near;
    std::tie(far_, near) = testing::SocketPair();
    mad::PortInfo info{};
    info.lid = wire::Lid{5};
    info.port_state = PortState::kActive;
    info.neighbor_mtu = 5;
    info.operational_vls = 4;
    Say(NodeLinkMessage::kState,
        EncodeState({.info = info, .ports = 1, .p_keys = {0xffff}}));
    UniqueFd line;
    std::tie(line_, line) = testing::SocketPair();
    auto remote = RemoteCables::Adopt(std::move(near), patience,
                                      RemoteCables::Side::kDaemon,
                                      std::move(line), "token");
    EXPECT_TRUE(remote.ok()) << remote.status();
    host_ = std::make_unique<JoinedHost>(
        loop_, fabric_, kNode, kBeyond,
        JoinedHost::Ways{[](auto done) {
                           done(absl::UnavailableError("there is one only"));
                         },
                         {},
                         [this](const std::string& token, uint32_t number,
                                HostLeases::Met met) {
                           EXPECT_EQ(token, "token");
                           asked_.push_back(number);
                           met_ = std::move(met);
                         }},
        *std::move(remote));
    EXPECT_TRUE(host_->Start().ok());
    loop_.Poll();
    EXPECT_THAT(Heard(), ElementsAre(NodeLinkMessage::kEnable));
  }

  void Say(NodeLinkMessage type, const std::vector<std::byte>& payload) {
    std::vector<std::byte> bytes;
    AppendMessage(type, 1, payload, bytes);
    EXPECT_EQ(write(far_.get(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }
  // Returns the kinds of what the host has said since, and keeps the last one.
  std::vector<NodeLinkMessage> Heard() {
    std::vector<NodeLinkMessage> kinds;
    std::array<std::byte, 65536> bytes;
    const ssize_t count =
        recv(far_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count <= 0) return kinds;
    splitter_.Add(std::span(bytes).first(static_cast<size_t>(count)));
    while (splitter_.Next(last_).value()) kinds.push_back(last_.type);
    return kinds;
  }

  // Polls, and answers the request that comes of it meanwhile.
  void PollAndAnswer(const std::vector<std::byte>& reply) {
    std::thread agents([&] {
      pollfd ready = {far_.get(), POLLIN, 0};
      constexpr int kOnlyAFaultTakesLonger = 60'000;
      EXPECT_EQ(poll(&ready, 1, kOnlyAFaultTakesLonger), 1);
      EXPECT_THAT(Heard(), ElementsAre(NodeLinkMessage::kRequest));
      Say(NodeLinkMessage::kReply, reply);
    });
    loop_.Poll();
    agents.join();
  }
  PortState State() { return fabric_.device(kNode).port(1).Info().port_state; }

  // A request from another node that the host's agents get, by LID.
  static std::vector<std::byte> RequestFor(AttributeId attribute) {
    fabric::Packet packet;
    packet.vl15 = true;
    packet.slid = wire::Lid{7};
    packet.dlid = wire::Lid{5};
    wire::Encode(Smp{.method = mad::Method::kSet, .attr_id = attribute},
                 packet.mad);
    return EncodePacket(packet);
  }

  testing::VirtualTimers timers_;
  VirtualLoop loop_{timers_};
  fabric::Fabric fabric_{Chain(0), timers_, {}};
  UniqueFd far_;
  UniqueFd line_;  // by which the host gets its packets' connection
  // The connections of packets that the host has asked for, and what takes the
  // last one.
  std::vector<uint32_t> asked_;
  HostLeases::Met met_;
  NodeLinkSplitter splitter_{PacketTrain::kLongest};
  NodeLinkSplitter::Message last_{};
  std::unique_ptr<JoinedHost> host_;
};

TEST_F(JoinedHostsAgentsTest, AnswerWhereTheSubnetIs) {
  mad::MadBytes answer{};
  wire::Encode(
      Smp{.method = mad::Method::kGetResp, .attr_id = AttributeId::kNodeInfo},
      answer);
  Say(NodeLinkMessage::kPacket, RequestFor(AttributeId::kNodeInfo));
  PollAndAnswer(EncodeReply(mad::LocalVerdict::kReply, answer));
  EXPECT_THAT(Heard(), ElementsAre(NodeLinkMessage::kPacket));
  const auto sent = fabric::ParsePacket(last_.payload);
  ASSERT_TRUE(sent.ok()) << sent.status();
  EXPECT_EQ(sent->dlid, wire::Lid{7});
  EXPECT_EQ(wire::Get<&Smp::method>(sent->mad), mad::Method::kGetResp);
}

TEST_F(JoinedHostsAgentsTest, LeaveToProgramsHereWhatIsNotForThem) {
  Inbox inbox;
  fabric_.device(kNode).port(1).SetListener(&inbox);
  Say(NodeLinkMessage::kPacket, RequestFor(AttributeId::kSmInfo));
  PollAndAnswer(EncodeReply(mad::LocalVerdict::kUnhandled, {}));
  EXPECT_THAT(inbox.arrivals, SizeIs(1));
  EXPECT_THAT(Heard(), IsEmpty());
  fabric_.device(kNode).port(1).SetListener(nullptr);
}

TEST_F(JoinedHostsAgentsTest, AreToldWhatThePortsHostIs) {
  fabric_.device(kNode).port(1).SetIsSm(true);
  EXPECT_THAT(Heard(), ElementsAre(NodeLinkMessage::kIsSm));
  fabric_.device(kNode).SetNodeDescription("weaver mlx5_0");
  EXPECT_THAT(Heard(), ElementsAre(NodeLinkMessage::kDescription));
  EXPECT_THAT(last_.payload, SizeIs(13));
}

TEST_F(JoinedHostsAgentsTest, AreToldOfWrongKeysIfTheySayThatTheyTakeIt) {
  fabric::Packet packet;
  packet.slid = wire::Lid{7};
  packet.dlid = wire::Lid{5};
  packet.destination_qpn = 1;
  packet.p_key = 0x1234;
  Say(NodeLinkMessage::kPacket, EncodePacket(packet));
  loop_.Poll();
  EXPECT_THAT(Heard(), IsEmpty()) << "as a daemon of an older version";
  Say(NodeLinkMessage::kState,
      EncodeState({.info = fabric_.device(kNode).port(1).Info(),
                   .ports = 1,
                   .takes_bad_keys = true,
                   .p_keys = {0xffff}}));
  Say(NodeLinkMessage::kPacket, EncodePacket(packet));
  loop_.Poll();
  ASSERT_THAT(Heard(), ElementsAre(NodeLinkMessage::kBadKey));
  EXPECT_EQ(DecodeBadKey(last_.payload).value().details.key, 0x1234u);
}

struct EventList final : verbs::AsyncEventListener {
  void OnDeviceEvent(verbs::AsyncEventType type, int /*port*/) override {
    types.push_back(type);
  }
  std::vector<verbs::AsyncEventType> types;
};

TEST_F(JoinedHostsAgentsTest, AskProgramsToRegisterAgain) {
  EventList events;
  verbs::Provider& provider = fabric_.provider(kNode);
  provider.AddListener(events);
  Say(NodeLinkMessage::kReregister, {});
  loop_.Poll();
  EXPECT_THAT(events.types,
              ElementsAre(verbs::AsyncEventType::kClientReregister));
  provider.RemoveListener(events);
}

TEST_F(JoinedHostsAgentsTest, SayWhatAManagerCallsTheHost) {
  mad::NodeDescription name;
  name.text = {'w', 'e', 'b'};
  Smp answer{.method = mad::Method::kGetResp,
             .attr_id = AttributeId::kNodeDescription};
  wire::Encode(name, answer.data);
  mad::MadBytes bytes{};
  wire::Encode(answer, bytes);
  Say(NodeLinkMessage::kPacket, RequestFor(AttributeId::kNodeDescription));
  PollAndAnswer(EncodeReply(mad::LocalVerdict::kReply, bytes));
  EXPECT_EQ(fabric_.device(kNode).node_description(), "web");
}

TEST_F(JoinedHostsAgentsTest, AreNotAskedOfWhatIsForPrograms) {
  Inbox inbox;
  fabric_.device(kNode).port(1).SetListener(&inbox);
  std::vector<std::byte> answer = RequestFor(AttributeId::kNodeInfo);
  constexpr size_t kMethodAt = 8 + 12 + 8 + 3;  // after LRH, BTH and DETH
  answer[kMethodAt] = std::byte{0x81};          // GetResp
  Say(NodeLinkMessage::kPacket, answer);
  loop_.Poll();
  EXPECT_THAT(inbox.arrivals, SizeIs(1));
  EXPECT_THAT(Heard(), IsEmpty());
  fabric_.device(kNode).port(1).SetListener(nullptr);
}

// Packets wait in the cables, and then they are lost.
TEST_F(JoinedHostsAgentsTest, AreToldEvenIfPacketsFindNoRoom) {
  const size_t sent = RemoteCables::kMaxKept / 256 * 2;
  for (size_t i = 0; i < sent; ++i) {
    mad::Outgoing packet =
        testing::LidGet(1, mad::MgmtClass::kPerformance, wire::Lid{7},
                        AttributeId::kClassPortInfo);
    EXPECT_TRUE(fabric_.device(kNode).port(1).Transmit(packet).ok());
    if (i % 64 == 0) timers_.RunPending();
  }
  timers_.RunPending();
  fabric_.device(kNode).port(1).SetIsSm(true);
  size_t heard = 0;
  bool told = false;
  for (int idle = 0; idle < 3;) {
    loop_.Poll();
    const std::vector<NodeLinkMessage> kinds = Heard();
    idle = kinds.empty() ? idle + 1 : 0;
    for (const NodeLinkMessage kind : kinds) {
      if (kind == NodeLinkMessage::kPacket) ++heard;
      if (kind == NodeLinkMessage::kIsSm) told = true;
    }
  }
  EXPECT_TRUE(told);
  EXPECT_GT(heard, 0u);
  EXPECT_LT(heard, sent);
}

TEST_F(JoinedHostsAgentsTest, AreGoneWhenTheyAnswerWhatNobodyAsked) {
  EXPECT_EQ(State(), PortState::kActive);
  Say(NodeLinkMessage::kReply, EncodeReply(mad::LocalVerdict::kUnhandled, {}));
  loop_.Poll();
  EXPECT_EQ(State(), PortState::kDown);
}

class SilentAgentsTest : public JoinedHostsAgentsTest {
 protected:
  SilentAgentsTest() : JoinedHostsAgentsTest(absl::Milliseconds(1)) {}
};

TEST_F(SilentAgentsTest, AreTakenForGone) {
  int told = 0;
  host_->OnSilence([&] { ++told; });
  Say(NodeLinkMessage::kPacket, RequestFor(AttributeId::kNodeInfo));
  loop_.Poll();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(State(), PortState::kDown);
  EXPECT_THAT(Heard(), ElementsAre(NodeLinkMessage::kRequest));
  std::byte more;
  EXPECT_EQ(recv(far_.get(), &more, 1, MSG_DONTWAIT), 0) << "it has hung up";
}

// A queue pair of the host and the one that it talks to.
class JoinedHostsTrainsTest : public JoinedHostsAgentsTest {
 protected:
  JoinedHostsTrainsTest() { end_.Connect(VerbsEnd::Towards(kOthersQpn, 7)); }
  // The packets of one message from the other.
  fabric::Packet Train() {
    fabric::Transport transport;
    transport.first = transport.last = true;
    transport.size = kSize;
    transport.packets = kSize / 1024 + 1;
    transport.payload = 1024;
    transport.message =
        std::make_shared<std::vector<std::byte>>(kSize, std::byte{'x'});
    transport.psn = VerbsEnd::Towards(kOthersQpn, 7).rq_psn;
    fabric::Packet packets;
    packets.slid = wire::Lid{7};
    packets.dlid = wire::Lid{5};
    packets.destination_qpn = end_.qp->number();
    packets.transport = std::make_shared<fabric::Transport>(transport);
    return packets;
  }

  static constexpr size_t kSize = 10'000;
  static constexpr uint32_t kOthersQpn = 0x42;
  VerbsEnd end_{timers_, fabric_.provider(kNode), {}};
};

TEST_F(JoinedHostsTrainsTest, SeveralPacketsOfOneMessageGoAsOne) {
  ASSERT_TRUE(end_.Send(0, kSize).ok());
  loop_.Poll();
  EXPECT_THAT(Heard(), ElementsAre(NodeLinkMessage::kTrain));
  const auto sent = DecodeTrain(last_.payload);
  ASSERT_TRUE(sent.ok()) << sent.status();
  EXPECT_EQ(sent->transport->size, kSize);
  EXPECT_EQ(sent->destination_qpn, kOthersQpn);
}

TEST_F(JoinedHostsTrainsTest, SeveralPacketsOfOneMessageComeAsOne) {
  ASSERT_TRUE(end_.Receive(0, kSize).ok());
  Say(NodeLinkMessage::kTrain, EncodeTrain(Train()));
  loop_.Poll();
  EXPECT_EQ(end_.memory->Text(0, kSize), std::string(kSize, 'x'));
  EXPECT_THAT(end_.PollStatuses(), ElementsAre(0u));
}

TEST_F(JoinedHostsTrainsTest, ADaemonThatSendsAnythingElseAsThemIsGone) {
  std::vector<std::byte> train = EncodeTrain(Train());
  train.pop_back();
  Say(NodeLinkMessage::kTrain, train);
  loop_.Poll();
  EXPECT_EQ(State(), PortState::kDown);
}

// The test has the far end of their connection, too.
class JoinedHostsConnectionTest : public JoinedHostsTrainsTest {
 protected:
  // Brings the host its end.
  void Connect() {
    UniqueFd near;
    std::tie(far_packets_, near) = testing::SocketPair();
    ASSERT_TRUE(launch::SendDescriptor(line_.get(), near.get()).ok());
    loop_.Poll();
    EXPECT_THAT(Heard(), ElementsAre(NodeLinkMessage::kPacketsMoved));
  }
  // Brings it its end of the one that it has asked for.
  void ConnectAgain() {
    UniqueFd near;
    std::tie(far_packets_, near) = testing::SocketPair();
    met_(std::move(near));
    loop_.Poll();
    EXPECT_THAT(Heard(), ElementsAre(NodeLinkMessage::kPacketsMoved));
  }
  void SayBeside(NodeLinkMessage type, const std::vector<std::byte>& payload,
                 int port = 1) {
    std::vector<std::byte> bytes;
    AppendMessage(type, port, payload, bytes);
    ASSERT_EQ(write(far_packets_.get(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
    loop_.Poll();
  }
  std::vector<NodeLinkMessage> HeardBeside() {
    std::swap(far_, far_packets_);
    auto kinds = Heard();
    std::swap(far_, far_packets_);
    return kinds;
  }
  void ExpectThatTheMessageCame() {
    EXPECT_EQ(end_.memory->Text(0, kSize), std::string(kSize, 'x'));
    EXPECT_THAT(end_.PollStatuses(), ElementsAre(0u));
  }

  UniqueFd far_packets_;
};

TEST_F(JoinedHostsConnectionTest, PacketsGoByItAndNotByTheNodeLink) {
  Connect();
  ASSERT_TRUE(end_.Send(0, kSize).ok());
  loop_.Poll();
  loop_.Poll();
  EXPECT_THAT(HeardBeside(), ElementsAre(NodeLinkMessage::kTrain));
  EXPECT_THAT(Heard(), IsEmpty());
}

TEST_F(JoinedHostsConnectionTest, WhatComesByItWaitsForTheWordOnTheNodeLink) {
  Connect();
  ASSERT_TRUE(end_.Receive(0, kSize).ok());
  SayBeside(NodeLinkMessage::kTrain, EncodeTrain(Train()));
  EXPECT_THAT(end_.PollStatuses(), IsEmpty());
  Say(NodeLinkMessage::kPacketsMoved, EncodeNumber(1));
  loop_.Poll();
  loop_.Poll();
  ExpectThatTheMessageCame();
}

TEST_F(JoinedHostsConnectionTest, PacketsGoByTheNodeLinkWhenItEnds) {
  Connect();
  Say(NodeLinkMessage::kPacketsMoved, EncodeNumber(1));
  loop_.Poll();
  far_packets_.Reset();
  loop_.Poll();
  ASSERT_TRUE(end_.Send(0, kSize).ok());
  loop_.Poll();
  EXPECT_THAT(Heard(), ElementsAre(NodeLinkMessage::kTrain));
  EXPECT_EQ(State(), PortState::kActive);
}

TEST_F(JoinedHostsConnectionTest, PacketsGoByTheNodeLinkIfNoneComes) {
  line_.Reset();
  loop_.Poll();
  ASSERT_TRUE(end_.Send(0, kSize).ok());
  loop_.Poll();
  EXPECT_THAT(Heard(), ElementsAre(NodeLinkMessage::kTrain));
}

// Connections that do not come are asked for again after so long.
TEST_F(JoinedHostsConnectionTest, AnotherIsAskedForLessAndLessOftenButForEver) {
  line_.Reset();
  loop_.Poll();
  std::vector<absl::Duration> delays;
  while (delays.size() < 9) {
    const absl::Time failed = timers_.Now();
    const size_t before = asked_.size();
    while (asked_.size() == before) timers_.RunFor(absl::Seconds(1));
    delays.push_back(timers_.Now() - failed);
    met_(absl::UnavailableError("the other has not come"));
  }
  EXPECT_THAT(asked_, ElementsAre(2, 3, 4, 5, 6, 7, 8, 9, 10));
  for (size_t i = 0; i < delays.size(); ++i) {
    EXPECT_EQ(delays[i], std::min(JoinedPackets::kFirstDelay * (1 << i),
                                  JoinedPackets::kLongestDelay))
        << i;
  }
}

TEST_F(JoinedHostsConnectionTest, AnotherIsAskedForSoonIfTheLastHasLasted) {
  Connect();
  const auto end_and_ask = [&] {
    const size_t before = asked_.size();
    far_packets_.Reset();
    loop_.Poll();
    const absl::Time ended = timers_.Now();
    while (asked_.size() == before) timers_.RunFor(absl::Seconds(1));
    return timers_.Now() - ended;
  };
  EXPECT_EQ(end_and_ask(), absl::Seconds(1));
  for (const int seconds : {2, 4, 8}) {
    ConnectAgain();
    EXPECT_EQ(end_and_ask(), absl::Seconds(seconds));
  }
  ConnectAgain();
  timers_.RunFor(JoinedPackets::kLongestDelay);
  EXPECT_EQ(end_and_ask(), absl::Seconds(1));
}

// The words of both ends are each of one connection.
TEST_F(JoinedHostsConnectionTest, WhatIsSaidOfOneThatHasEndedIsNotOfTheNext) {
  Connect();
  far_packets_.Reset();
  loop_.Poll();
  timers_.RunFor(JoinedPackets::kFirstDelay);
  EXPECT_THAT(asked_, ElementsAre(2));
  ConnectAgain();
  EXPECT_EQ(DecodeNumber(last_.payload).value(), 2u);
  ASSERT_TRUE(end_.Receive(0, kSize).ok());
  SayBeside(NodeLinkMessage::kTrain, EncodeTrain(Train()));
  Say(NodeLinkMessage::kPacketsMoved, EncodeNumber(1));
  loop_.Poll();
  loop_.Poll();
  EXPECT_THAT(end_.PollStatuses(), IsEmpty());
  Say(NodeLinkMessage::kPacketsMoved, EncodeNumber(2));
  loop_.Poll();
  loop_.Poll();
  ExpectThatTheMessageCame();
}

TEST_F(JoinedHostsConnectionTest, NoneIsAskedForOfADaemonThatIsGone) {
  Connect();
  far_packets_.Reset();
  loop_.Poll();
  far_.Reset();
  loop_.Poll();
  EXPECT_EQ(State(), PortState::kDown);
  timers_.RunFor(2 * JoinedPackets::kLongestDelay);
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(JoinedHostsConnectionTest, MadsGoByTheNodeLinkAllTheSame) {
  Connect();
  mad::Outgoing question =
      testing::LidGet(1, mad::MgmtClass::kPerformance, wire::Lid{7},
                      AttributeId::kClassPortInfo);
  ASSERT_TRUE(fabric_.device(kNode).port(1).Transmit(question).ok());
  loop_.Poll();
  EXPECT_THAT(Heard(), ElementsAre(NodeLinkMessage::kPacket));
  EXPECT_THAT(HeardBeside(), IsEmpty());
}

// A message and its port.
class NonsenseByItTest
    : public JoinedHostsConnectionTest,
      public ::testing::WithParamInterface<std::pair<NodeLinkMessage, int>> {};
INSTANTIATE_TEST_SUITE_P(
    All, NonsenseByItTest,
    ::testing::Values(std::pair(NodeLinkMessage::kIsSm, 1),
                      std::pair(NodeLinkMessage::kTrain, 1),
                      std::pair(NodeLinkMessage::kPacket, 0),
                      std::pair(NodeLinkMessage::kPacket, 2),
                      std::pair(NodeLinkMessage::kLeaseUsed, 1)));

TEST_P(NonsenseByItTest, EndsItAndNotTheNodeLink) {
  const auto [type, port] = GetParam();
  Connect();
  Say(NodeLinkMessage::kPacketsMoved, EncodeNumber(1));
  loop_.Poll();
  SayBeside(type, std::vector<std::byte>(1), port);
  char byte = 0;
  EXPECT_EQ(recv(far_packets_.get(), &byte, 1, MSG_DONTWAIT), 0);
  EXPECT_EQ(State(), PortState::kActive);
}

// As those of a daemon's other hosts are.
TEST_F(JoinedHostsAgentsTest, AreTakenForGoneWhenTheHostGivesUp) {
  host_->GiveUp(absl::UnavailableError("another host has waited in vain"));
  loop_.Poll();
  EXPECT_EQ(State(), PortState::kDown);
  Ask(fabric_,
      {.method = mad::Method::kGet, .attr_id = AttributeId::kNodeInfo});
  EXPECT_THAT(Heard(), IsEmpty());
}

// A packet that makes no sense is none.
TEST_F(JoinedHostsAgentsTest, DoNotHearOfWhatIsNoPacket) {
  Say(NodeLinkMessage::kPacket, std::vector<std::byte>(8));
  loop_.Poll();
  EXPECT_THAT(Heard(), IsEmpty());
}

}  // namespace
}  // namespace ibemu::daemon
