// What the queue pairs 0 and 1 of a node do with what arrives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, wire::Lid, mad::MadHeader, mad::MadStatus, mad::Method,
    mad::MgmtClass;
using ::testing::IsEmpty, ::testing::SizeIs;
using testing::Lab, testing::Chain, testing::Inbox, testing::DirectedGet,
    testing::LidGet, testing::HeaderOf;

mad::Outgoing Gmp(Lid dlid = Lid{2}) {
  return LidGet(1, MgmtClass::kSubnetAdministration, dlid,
                AttributeId::kClassPortInfo);
}

mad::Outgoing With(mad::Outgoing packet, Method method) {
  wire::Put<&MadHeader::method>(packet.mad, method);
  return packet;
}

struct EndpointsTest : ::testing::Test {
  void AttachHost2() { lab.HostPort(2).SetListener(&peer); }

  Lab lab{Chain(1), Lab::kStatically};
  Inbox peer;
};

// [gen_unmatched]
TEST_F(EndpointsTest, WithoutAgentsAnswersGetAndSetAsTheKernelDoes) {
  for (const Method method : {Method::kGet, Method::kSet}) {
    const auto answers = lab.Send(With(Gmp(), method));
    ASSERT_THAT(answers, SizeIs(1));
    EXPECT_EQ(HeaderOf(answers[0]).method, Method::kGetResp);
    EXPECT_EQ(HeaderOf(answers[0]).status, MadStatus::kUnsupportedAttribute);
    EXPECT_EQ(HeaderOf(answers[0]).tid, 0x5678u);
    EXPECT_EQ(answers[0].source_qpn, 1u);
    EXPECT_EQ(answers[0].slid, Lid{2});
  }
}

// [gen_unmatched]
TEST_F(EndpointsTest, WithoutAgentsDropsEverythingElse) {
  for (const Method method :
       {Method::kSend, Method::kTrap, Method::kGetTable, Method::kDelete,
        Method::kGetResp, Method::kReportResp}) {
    EXPECT_THAT(lab.Send(With(Gmp(), method)), IsEmpty());
  }
}

// [ver_mismatch]
TEST_F(EndpointsTest, DropsAnotherBaseVersionBeforeItsOwnAgentsSeeIt) {
  const mad::Outgoing requests[] = {
      Gmp(),
      LidGet(1, MgmtClass::kPerformance, Lid{2}, AttributeId::kClassPortInfo),
      LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2}, AttributeId::kNodeInfo),
      DirectedGet(AttributeId::kNodeInfo, {1}),
      DirectedGet(AttributeId::kNodeInfo, {1, 2})};
  for (mad::Outgoing packet : requests) {
    EXPECT_THAT(lab.Send(packet), SizeIs(1));
    wire::Put<&MadHeader::base_version>(packet.mad, uint8_t{2});
    EXPECT_THAT(lab.Send(packet), IsEmpty());
  }
}

// [cm_class]
TEST_F(EndpointsTest, WithoutAgentsDropsACmRequestThatIsNotSend) {
  mad::Outgoing packet = Gmp();
  wire::Put<&MadHeader::mgmt_class>(packet.mad, MgmtClass::kCommunication);
  EXPECT_THAT(lab.Send(packet), SizeIs(1)) << "ClassPortInfo";
  wire::Put<&MadHeader::attr_id>(packet.mad, AttributeId{0x10});
  EXPECT_THAT(lab.Send(packet), IsEmpty());
}

TEST_F(EndpointsTest, WithoutAnSmRefusesSmInfo) {
  const auto answers = lab.Send(
      LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2}, AttributeId::kSmInfo));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(HeaderOf(answers[0]).status, MadStatus::kUnsupportedAttribute);
  const auto directed = lab.Send(DirectedGet(AttributeId::kSmInfo, {1, 2}));
  ASSERT_THAT(directed, SizeIs(1));
  EXPECT_TRUE(wire::Get<&mad::Smp::direction>(directed[0].mad));
}

// [q0_lid_peer]
TEST_F(EndpointsTest, GivesAnAttachedHostWhatItsAgentsLeave) {
  AttachHost2();
  EXPECT_THAT(lab.Send(Gmp()), IsEmpty());
  ASSERT_THAT(peer.arrivals, SizeIs(1));
  EXPECT_EQ(peer.arrivals[0].slid, Lid{1});
  EXPECT_EQ(peer.arrivals[0].source_qpn, 1u);
  lab.Send(
      LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2}, AttributeId::kSmInfo));
  EXPECT_THAT(peer.arrivals, SizeIs(2));
  lab.Send(
      LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2}, AttributeId::kNodeInfo));
  EXPECT_THAT(peer.arrivals, SizeIs(2)) << "the SMA answered";
}

TEST_F(EndpointsTest, GivesTrapsAndResponsesToTheListener) {
  AttachHost2();
  const auto smp =
      LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2}, AttributeId::kNotice);
  lab.Send(With(smp, Method::kTrap));
  lab.Send(With(smp, Method::kGetResp));
  EXPECT_THAT(peer.arrivals, SizeIs(2));
}

TEST_F(EndpointsTest, AnswersAListenersAnswerToADirectedRoute) {
  AttachHost2();
  lab.Send(DirectedGet(AttributeId::kSmInfo, {1, 2}));
  ASSERT_THAT(peer.arrivals, SizeIs(1));
  // As an agent's send does: D, and the hop pointer one back.
  mad::Outgoing answer;
  answer.to = mad::ReplyTo(peer.arrivals[0]);
  answer.mad = peer.arrivals[0].mad;
  wire::Put<&mad::Smp::method>(answer.mad, Method::kGetResp);
  wire::Put<&mad::Smp::direction>(answer.mad, true);
  wire::Put<&mad::Smp::hop_pointer>(answer.mad, 2);
  lab.Transmit(2, answer);
  lab.timers.RunPending();
  EXPECT_THAT(lab.inbox.arrivals, SizeIs(1));
}

TEST_F(EndpointsTest, CountsAForeignPKey) {
  AttachHost2();
  lab.PortOf(lab.Host(1), 1).SetPKey(1, 0x8001);
  mad::Outgoing packet = Gmp();
  packet.to.pkey_index = 1;
  lab.Send(packet);
  EXPECT_THAT(peer.arrivals, IsEmpty());
  EXPECT_EQ(lab.PortOf(lab.Host(2), 1).info.p_key_violations, 1);
}

TEST_F(EndpointsTest, LetsALimitedMemberTalkToAFullOneOnly) {
  AttachHost2();
  lab.PortOf(lab.Host(1), 1).SetPKey(0, 0x7fff);
  lab.Send(Gmp());
  EXPECT_THAT(peer.arrivals, SizeIs(1));
  lab.PortOf(lab.Host(2), 1).SetPKey(0, 0x7fff);
  lab.Send(Gmp());
  EXPECT_THAT(peer.arrivals, SizeIs(1));
  EXPECT_EQ(lab.PortOf(lab.Host(2), 1).info.p_key_violations, 1);
}

TEST_F(EndpointsTest, TellsTheIndexOfTheMatchingPKey) {
  AttachHost2();
  lab.PortOf(lab.Host(1), 1).SetPKey(1, 0x8005);
  lab.PortOf(lab.Host(2), 1).SetPKey(3, 0x8005);
  mad::Outgoing packet = Gmp();
  packet.to.pkey_index = 1;
  lab.Send(packet);
  ASSERT_THAT(peer.arrivals, SizeIs(1));
  EXPECT_EQ(peer.arrivals[0].pkey_index, 3);
}

// [ib_grh_rx]
TEST_F(EndpointsTest, CarriesTheGlobalRouteHeader) {
  AttachHost2();
  mad::Outgoing packet = Gmp();
  packet.to.grh = mad::GlobalRoute{.gid = lab.HostPort(2).GidAt(0),
                                   .flow_label = 0xabcde,
                                   .gid_index = 0,
                                   .hop_limit = 9,
                                   .traffic_class = 7};
  lab.Send(packet);
  ASSERT_THAT(peer.arrivals, SizeIs(1));
  ASSERT_TRUE(peer.arrivals[0].grh.has_value());
  EXPECT_EQ(peer.arrivals[0].grh->gid, lab.HostPort(1).GidAt(0));
  EXPECT_EQ(peer.arrivals[0].grh->flow_label, 0xabcdeu);
  EXPECT_EQ(peer.arrivals[0].grh->traffic_class, 7);
}

// [ah_errors]
TEST_F(EndpointsTest, DropsWhatIsForAnotherGid) {
  AttachHost2();
  mad::Outgoing packet = Gmp();
  packet.to.grh = mad::GlobalRoute{.gid = {wire::kDefaultGidPrefix, 0x9999}};
  lab.Send(packet);
  EXPECT_THAT(peer.arrivals, IsEmpty());
}

TEST_F(EndpointsTest, FindsAGidThatTheSmAdded) {
  AttachHost2();
  lab.PortOf(lab.Host(2), 1).SetGuid(2, 0xabcd);
  mad::Outgoing packet = Gmp();
  packet.to.grh = mad::GlobalRoute{.gid = {wire::kDefaultGidPrefix, 0xabcd}};
  lab.Send(packet);
  ASSERT_THAT(peer.arrivals, SizeIs(1));
  EXPECT_EQ(peer.arrivals[0].grh->gid_index, 2);
}

// [ah_errors]
TEST_F(EndpointsTest, RefusesAGidIndexOutsideTheTable) {
  mad::Outgoing packet = Gmp();
  packet.to.grh = mad::GlobalRoute{.gid = {}, .gid_index = 200};
  const absl::Status status = lab.HostPort(1).Transmit(packet);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "gid_index 200: the table of host-1 port 1 has 32 entries");
}

// [dest_qpn]
TEST_F(EndpointsTest, LosesWhatIsForNoSpecialQueuePair) {
  AttachHost2();
  mad::Outgoing packet = Gmp();
  packet.to.qpn = 7;
  lab.Send(packet);
  packet.to.qpn = 0;
  lab.Send(packet);
  EXPECT_THAT(peer.arrivals, IsEmpty());
}

// [q0_lid_self]
TEST_F(EndpointsTest, SendsToItsOwnLidWithoutTheWire) {
  const auto arrivals = lab.Send(Gmp(Lid{1}));
  ASSERT_THAT(arrivals, SizeIs(1));
  EXPECT_EQ(arrivals[0].slid, Lid{1});
  EXPECT_EQ(lab.PortOf(lab.Host(1), 1).traffic.xmit_packets, 0u);
  const auto smps = lab.Send(
      LidGet(0, MgmtClass::kSubnetLidRouted, Lid{1}, AttributeId::kNodeInfo));
  ASSERT_THAT(smps, SizeIs(1));
  EXPECT_EQ(HeaderOf(smps[0]).method, Method::kGetResp);
}

}  // namespace
}  // namespace ibemu::fabric
