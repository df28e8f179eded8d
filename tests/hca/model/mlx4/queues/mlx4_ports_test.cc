// Ports, MADs to the firmware, and the special queue pairs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hca/prm/mlx4_management.h"
#include "mad/wire/smp.h"
#include "tests/hca/model/fake_host.h"

namespace ibemu::hca::model {
namespace {

using prm::CqeSyndrome;
using prm::EqeType;
using prm::Opcode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Status = prm::CommandStatus;

constexpr uint32_t kQp0 = FakeHost::kSpecialBase;
constexpr uint32_t kQp1 = FakeHost::kSpecialBase + 2;

class Mlx4Ports : public ::testing::Test {
 protected:
  FakeCable& cable() { return here_.cables[0]; }

  void Start(uint32_t qpn) {
    const prm::QpContext context = here_.Context(prm::QpService::kMlx);
    ASSERT_EQ(here_.Create(qpn, context), Status::kOk);
    here_.ToRts(qpn, context);
  }

  // LRH, BTH and DETH as software builds them, a payload, and room for ICRC.
  static std::vector<std::byte> MlxPacket(uint16_t dlid, uint32_t qpn,
                                          uint32_t qkey, uint8_t sl = 0) {
    std::vector<std::byte> bytes = Concat(
        wire::LocalRouteHeader{.sl = sl, .dlid = wire::Lid{dlid}, .words = 72},
        wire::BaseTransportHeader{
            .opcode = 0x64, .p_key = 0xffff, .destination_qpn = qpn},
        wire::DatagramHeader{.q_key = qkey, .source_qpn = qpn});
    bytes.resize(288);
    bytes[28] = std::byte{0x42};  // the first of the MAD
    return bytes;
  }
  // The same as segments of a WQE.
  std::vector<std::byte> MlxSegments(const std::vector<std::byte>& packet) {
    std::ranges::copy(packet, here_.machine.Bytes(here_.region, 288).begin());
    return Concat(FakeHost::At(0, static_cast<uint32_t>(packet.size())));
  }

  testing::VirtualTimers timers_;
  FakeHost here_{timers_};
};

TEST_F(Mlx4Ports, AreEnabledByACommandAndClosedAsOftenAsSoftwareLikes) {
  EXPECT_TRUE(cable().enabled);
  EXPECT_EQ(here_.Command(Opcode::kInitPort, 1), Status::kBadResourceState);
  EXPECT_EQ(here_.Command(Opcode::kInitPort, 2), Status::kBadParam);
  EXPECT_EQ(here_.Command(Opcode::kClosePort, 1), Status::kOk);
  EXPECT_FALSE(cable().enabled);
  EXPECT_EQ(here_.Command(Opcode::kClosePort, 1), Status::kOk);
  EXPECT_EQ(here_.Command(Opcode::kClosePort, 0), Status::kBadParam);
}

TEST_F(Mlx4Ports, SayThatASubnetManagerRuns) {
  EXPECT_EQ(
      here_.Give(Opcode::kSetPort, 1, prm::SetPort{.capability_mask = 1u << 1}),
      Status::kOk);
  EXPECT_TRUE(cable().is_sm);
  EXPECT_EQ(here_.Give(Opcode::kSetPort, 1, prm::SetPort{}), Status::kOk);
  EXPECT_FALSE(cable().is_sm);
}

TEST_F(Mlx4Ports, RefuseMoreThanThePortHas) {
  prm::SetPort wanted{.change_vl_cap = true, .vl_cap = 15};
  EXPECT_EQ(here_.Give(Opcode::kSetPort, 1, wanted), Status::kExceedLimit);
  wanted.vl_cap = 8;
  EXPECT_EQ(here_.Give(Opcode::kSetPort, 1, wanted), Status::kOk);
  wanted = {.change_mtu_cap = true, .mtu_cap = 6};
  EXPECT_EQ(here_.Give(Opcode::kSetPort, 1, wanted), Status::kBadParam);
  EXPECT_EQ(here_.Give(Opcode::kSetPort, 3, prm::SetPort{}), Status::kBadParam);
}

TEST_F(Mlx4Ports, TellWhenTheLinkComesAndGoes) {
  cable().info.port_state = mad::PortState::kDown;
  cable().listener->OnPortEvent();
  cable().listener->OnPortEvent();
  cable().info.port_state = mad::PortState::kActive;
  cable().listener->OnPortEvent();
  EXPECT_THAT(here_.Events(),
              ElementsAre(EqeType::kPortChange, EqeType::kPortChange));
  EXPECT_EQ(here_.EventAt(FakeHost::kAsyncEq, 0).subtype, prm::kPortDown);
  EXPECT_EQ(here_.EventAt(FakeHost::kAsyncEq, 1).subtype, prm::kPortActive);
  EXPECT_EQ(here_.machine
                .Get<prm::PortChangeEvent>(
                    here_.eqs[FakeHost::kAsyncEq].memory + prm::kEqeData)
                .port,
            1);
}

TEST_F(Mlx4Ports, TellWhatASubnetManagerChanged) {
  cable().info.lid = wire::Lid{9};
  cable().info.master_sm_lid = wire::Lid{2};
  cable().p_key = 0x8001;
  cable().listener->OnPortEvent();
  EXPECT_THAT(here_.Events(), ElementsAre(EqeType::kPortManagementChange,
                                          EqeType::kPortManagementChange));
  const auto change = here_.machine.Get<prm::PortManagementEvent>(
      here_.eqs[FakeHost::kAsyncEq].memory + prm::kEqeData);
  EXPECT_EQ(change.changed, prm::kLidChange | prm::kSmLidChange);
  EXPECT_EQ(change.port_lid, 9);
  EXPECT_EQ(here_.EventAt(FakeHost::kAsyncEq, 1).subtype,
            prm::kPKeyTableChange);
}

TEST_F(Mlx4Ports, PassMadsToTheFirmwaresAgents) {
  here_.machine.Put(
      here_.inbox,
      mad::MadHeader{.mgmt_class = mad::MgmtClass::kSubnetLidRouted,
                     .method = mad::Method::kGet});
  here_.machine.Put(here_.inbox + 256,
                    prm::MadIfcExtension{.remote_qpn = 3, .sl = 2});
  ASSERT_EQ(here_.Ask(Opcode::kMadIfc, 1 | 7 << prm::kMadIfcLidShift,
                      prm::kMadIfcExtended),
            Status::kOk);
  EXPECT_EQ(here_.Out<mad::MadHeader>().method, mad::Method::kGetResp);
  ASSERT_EQ(cable().arrivals.size(), 1u);
  EXPECT_EQ(cable().arrivals[0].slid, wire::Lid{7});
  EXPECT_EQ(cable().arrivals[0].sl, 2);
  EXPECT_EQ(cable().arrivals[0].source_qpn, 3u);
  EXPECT_EQ(cable().arrivals[0].qp, 0);
}

TEST_F(Mlx4Ports, RefuseMadsForNoPortOrNoAgent) {
  EXPECT_EQ(here_.Ask(Opcode::kMadIfc, 2), Status::kBadParam);
  cable().verdict = mad::LocalVerdict::kUnhandled;
  EXPECT_EQ(here_.Ask(Opcode::kMadIfc, 1), Status::kBadPacket);
}

TEST_F(Mlx4Ports, TellWhoManagesThemOnlyWhereFirmwareKnowsHow) {
  constexpr uint8_t kQuery = prm::kMadDemuxQueryRestrictions;
  EXPECT_EQ(here_.Ask(Opcode::kMadDemux, prm::kMadDemuxSubnet, kQuery),
            Status::kBadOp);
  here_.device.limits().mad_demux = true;
  EXPECT_EQ(here_.Ask(Opcode::kMadDemux, prm::kMadDemuxSubnet, 1),
            Status::kBadOp);
  EXPECT_EQ(here_.Ask(Opcode::kMadDemux, 4, kQuery), Status::kBadParam);
  ASSERT_EQ(here_.Ask(Opcode::kMadDemux, prm::kMadDemuxSubnet, kQuery),
            Status::kOk);
  EXPECT_EQ(here_.Out<prm::MadDemuxRestrictions>().set, 0u);
  here_.device.faults().SecureHost();
  ASSERT_EQ(here_.Ask(Opcode::kMadDemux, prm::kMadDemuxSubnet, kQuery),
            Status::kOk);
  EXPECT_NE(here_.Out<prm::MadDemuxRestrictions>().trap, 0u);
}

TEST_F(Mlx4Ports, AskTheirAgentsWithTheManagementKeyIfSoftwareSkipsItsCheck) {
  cable().info.m_key = 0x1234;
  const mad::Smp request{.method = mad::Method::kGet,
                         .attr_id = mad::AttributeId::kPortInfo,
                         .m_key = 0x42};
  here_.machine.Put(here_.inbox, request);
  ASSERT_EQ(here_.Ask(Opcode::kMadIfc, 1), Status::kOk);
  EXPECT_EQ(wire::Get<&mad::Smp::m_key>(cable().arrivals[0].mad), 0x42u);
  ASSERT_EQ(here_.Ask(Opcode::kMadIfc, 1, prm::kMadIfcIgnoreMKey), Status::kOk);
  EXPECT_EQ(wire::Get<&mad::Smp::m_key>(cable().arrivals[1].mad), 0x1234u);
  EXPECT_EQ(here_.Out<mad::Smp>().m_key, 0x42u) << "it tells nobody";
}

TEST_F(Mlx4Ports, SayThatAMadWasDroppedUnlessItHasNoAnswer) {
  cable().verdict = mad::LocalVerdict::kConsumed;
  mad::Smp request{.method = mad::Method::kGet,
                   .attr_id = mad::AttributeId::kPortInfo};
  here_.machine.Put(here_.inbox, request);
  EXPECT_EQ(here_.Ask(Opcode::kMadIfc, 1), Status::kBadPacket);
  request.method = mad::Method::kTrapRepress;
  request.attr_id = mad::AttributeId::kNotice;
  here_.machine.Put(here_.inbox, request);
  EXPECT_EQ(here_.Ask(Opcode::kMadIfc, 1), Status::kOk);
}

TEST_F(Mlx4Ports, TellThatASubnetManagerWantsClientsToReregister) {
  here_.machine.Put(here_.inbox,
                    mad::Smp{.method = mad::Method::kSet,
                             .attr_id = mad::AttributeId::kPortInfo});
  mad::PortInfo wanted;
  wanted.client_reregister = true;
  here_.machine.Put(here_.inbox + mad::kSmpDataOffset, wanted);
  ASSERT_EQ(here_.Ask(Opcode::kMadIfc, 1), Status::kOk);
  ASSERT_THAT(here_.Events(), ElementsAre(EqeType::kPortManagementChange));
  EXPECT_EQ(here_.machine
                .Get<prm::PortManagementEvent>(
                    here_.eqs[FakeHost::kAsyncEq].memory + prm::kEqeData)
                .changed,
            prm::kClientReregister);
}

TEST_F(Mlx4Ports, ConfigureSpecialQueuePairsWhereTheyMayBe) {
  EXPECT_EQ(here_.Command(Opcode::kConfSpecialQp, 65), Status::kBadParam);
  EXPECT_EQ(here_.Command(Opcode::kConfSpecialQp, 56), Status::kBadIndex);
  EXPECT_EQ(here_.Command(Opcode::kConfSpecialQp, 1024), Status::kBadIndex);
  Start(kQp0);
  EXPECT_EQ(here_.Command(Opcode::kConfSpecialQp, 128), Status::kResourceBusy);
  EXPECT_EQ(here_.Command(Opcode::kConfSpecialQp, 0), Status::kResourceBusy);
  here_.Command(Opcode::k2RstQp, kQp0, 2);
  EXPECT_EQ(here_.Command(Opcode::kConfSpecialQp, 0), Status::kOk);
  EXPECT_EQ(here_.Create(kQp0, here_.Context(prm::QpService::kMlx)),
            Status::kBadParam)
      << "it is special no more";
}

TEST_F(Mlx4Ports, TakeTheSpecialServiceOnSpecialQueuePairsAlone) {
  EXPECT_EQ(here_.Create(200, here_.Context(prm::QpService::kMlx)),
            Status::kBadParam);
  EXPECT_EQ(here_.Create(kQp0, here_.Context(prm::QpService::kUd)),
            Status::kBadParam);
  EXPECT_EQ(here_.Create(kQp0 + 1, here_.Context(prm::QpService::kMlx)),
            Status::kBadParam)
      << "there is no second port";
}

TEST_F(Mlx4Ports, SendAPacketWhoseHeadersSoftwareBuilt) {
  Start(kQp0);
  here_.Post(kQp0,
             prm::MlxSegment{.opcode = prm::WqeOpcode::kSend,
                             .vl15 = true,
                             .completion = prm::kCompletionRequested,
                             .rlid = 9},
             MlxSegments(MlxPacket(9, 0, 0)));
  ASSERT_EQ(cable().sent.size(), 1u);
  const auto lrh = wire::Decode<wire::LocalRouteHeader>(cable().sent[0]);
  EXPECT_EQ(lrh.vl, 15);
  EXPECT_EQ(lrh.slid, wire::Lid{5}) << "the port's own";
  EXPECT_EQ(cable().sent[0].size(), 288u);
  EXPECT_EQ(cable().sent[0][28], std::byte{0x42});
  const prm::Cqe done = here_.NextCqe(FakeHost::kSendCq);
  EXPECT_EQ(done.qpn, kQp0);
  EXPECT_TRUE(done.is_send);
  EXPECT_EQ(done.opcode, static_cast<uint8_t>(prm::WqeOpcode::kSend));
}

TEST_F(Mlx4Ports, LeaveThePermissiveLidThatSoftwareGave) {
  Start(kQp0);
  std::vector<std::byte> packet = MlxPacket(0xffff, 0, 0);
  auto lrh = wire::Decode<wire::LocalRouteHeader>(packet);
  lrh.slid = wire::Lid::kPermissive;
  wire::Encode(lrh, packet);
  here_.Post(kQp0,
             prm::MlxSegment{.opcode = prm::WqeOpcode::kSend,
                             .source_lid_given = true,
                             .rlid = 0xffff},
             MlxSegments(packet));
  ASSERT_EQ(cable().sent.size(), 1u);
  EXPECT_EQ(wire::Decode<wire::LocalRouteHeader>(cable().sent[0]).slid,
            wire::Lid::kPermissive);
}

TEST_F(Mlx4Ports, FailAPacketWhoseHeadersContradictItsWqe) {
  Start(kQp0);
  const prm::MlxSegment control{.opcode = prm::WqeOpcode::kSend, .rlid = 8};
  here_.Post(kQp0, control, MlxSegments(MlxPacket(9, 0, 0)));
  EXPECT_THAT(cable().sent, IsEmpty());
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kLocalQpOperation);
  EXPECT_EQ(here_.Query(kQp0).state, prm::QpContextState::kSqError);
  here_.Post(kQp0, control, MlxSegments(MlxPacket(9, 0, 0)));
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kFlushed);
}

TEST_F(Mlx4Ports, ReceiveForTheWellKnownNumbers) {
  Start(kQp0);
  Start(kQp1);
  here_.PostReceive(kQp0, {FakeHost::At(0, 296)});
  here_.PostReceive(kQp1, {FakeHost::At(512, 296)});
  std::vector<std::byte> packet = MlxPacket(5, 0, 0, 3);
  auto lrh = wire::Decode<wire::LocalRouteHeader>(packet);
  lrh.slid = wire::Lid{7};
  wire::Encode(lrh, packet);
  cable().listener->OnPacket(packet);
  cable().listener->OnPacket(MlxPacket(5, 1, mad::kQp1QKey));

  const prm::Cqe first = here_.NextCqe(FakeHost::kReceiveCq);
  EXPECT_EQ(first.qpn, kQp0);
  EXPECT_FALSE(first.is_send);
  EXPECT_EQ(first.opcode, prm::kReceivedSend);
  EXPECT_EQ(first.byte_count, 296u) << "40 for the GRH, 256 of the MAD";
  EXPECT_EQ(first.remote_lid, 7);
  EXPECT_EQ(first.sl, 3);
  EXPECT_FALSE(first.grh);
  EXPECT_EQ(here_.Text(40, 1), "\x42");
  EXPECT_EQ(here_.NextCqe(FakeHost::kReceiveCq).qpn, kQp1);
}

TEST_F(Mlx4Ports, DropWhatHasTheWrongKeyNoPlaceOrNoPort) {
  Start(kQp1);
  cable().listener->OnPacket(MlxPacket(5, 1, mad::kQp1QKey));
  here_.PostReceive(kQp1, {FakeHost::At(512, 296)});
  cable().listener->OnPacket(MlxPacket(5, 1, 0x1234));
  std::vector<std::byte> cut = MlxPacket(5, 1, mad::kQp1QKey);
  cut.resize(20);
  cable().listener->OnPacket(cut);
  here_.Command(Opcode::kClosePort, 1);
  cable().listener->OnPacket(MlxPacket(5, 1, mad::kQp1QKey));
  EXPECT_TRUE(here_.Empty(FakeHost::kReceiveCq));
}

TEST_F(Mlx4Ports, CountWhatTheWellKnownNumberRefusesForItsKeys) {
  Start(kQp1);
  here_.PostReceive(kQp1, {FakeHost::At(512, 296)});
  cable().listener->OnPacket(MlxPacket(5, 1, 0x1234));
  EXPECT_THAT(cable().bad_keys,
              ElementsAre(Pair(mad::TrapNumber::kBadQKey, 1u)));
  EXPECT_EQ(cable().last_bad_key.key, 0x1234u);
  EXPECT_EQ(cable().last_bad_key.qp2, 1u) << "as the packet says";
  cable().p_key = 0x8001;
  cable().listener->OnPacket(MlxPacket(5, 1, 0x1234));
  EXPECT_THAT(cable().bad_keys,
              ElementsAre(Pair(mad::TrapNumber::kBadPKey, 1u),
                          Pair(mad::TrapNumber::kBadQKey, 1u)))
      << "the P_Key is looked at first";
  EXPECT_EQ(cable().last_bad_key.key, 0xffffu);
}

TEST_F(Mlx4Ports, DeliverToThemselvesWhatIsForThem) {
  Start(kQp0);
  here_.PostReceive(kQp0, {FakeHost::At(512, 296)});
  here_.Post(kQp0, prm::MlxSegment{.opcode = prm::WqeOpcode::kSend, .rlid = 5},
             MlxSegments(MlxPacket(5, 0, 0)));
  EXPECT_TRUE(here_.Empty(FakeHost::kReceiveCq));
  timers_.RunPending();
  EXPECT_THAT(cable().sent, IsEmpty());
  EXPECT_EQ(here_.NextCqe(FakeHost::kReceiveCq).remote_lid, 5);
}

TEST_F(Mlx4Ports, GoRoundTheirQueuesManyTimes) {
  Start(kQp0);
  for (uint32_t i = 0; i < 40; ++i) {
    here_.PostReceive(kQp0, {FakeHost::At(512, 296)});
    here_.Post(kQp0,
               prm::MlxSegment{.opcode = prm::WqeOpcode::kSend,
                               .completion = prm::kCompletionRequested,
                               .rlid = 5},
               MlxSegments(MlxPacket(5, 0, 0)));
    timers_.RunPending();
    EXPECT_EQ(here_.NextCqe(FakeHost::kSendCq).wqe_counter, i);
    EXPECT_EQ(here_.NextCqe(FakeHost::kReceiveCq).wqe_counter, i);
    EXPECT_TRUE(here_.Empty(FakeHost::kSendCq));
    EXPECT_TRUE(here_.Empty(FakeHost::kReceiveCq));
  }
}

TEST_F(Mlx4Ports, IgnoreADoorbellFromAnothersPage) {
  Start(kQp0);
  here_.Post(kQp0, prm::MlxSegment{.opcode = prm::WqeOpcode::kSend, .rlid = 9},
             MlxSegments(MlxPacket(9, 0, 0)), false);
  here_.Ring(kQp0, FakeHost::kUar + 1);
  EXPECT_THAT(cable().sent, IsEmpty());
  EXPECT_EQ(here_.device.violations(), 1);
  here_.Ring(kQp0);
  EXPECT_EQ(cable().sent.size(), 1u);
}

}  // namespace
}  // namespace ibemu::hca::model
