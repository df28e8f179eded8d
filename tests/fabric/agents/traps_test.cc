#include "fabric/agents/traps.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mad/wire/notice.h"
#include "tests/fabric/agents/sma_fixture.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, wire::Lid, mad::LocalVerdict, mad::Method, mad::Notice,
    mad::TrapNumber;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TrapsTest : public SmaFixture {
 protected:
  TrapsTest() {
    Activate(kHost, 1, Lid{5}, Lid{1});
    Activate(kSwitch, 0, Lid{7}, Lid{1});
  }

  mad::Smp LastSmp() {
    return wire::Decode<mad::Smp>(mads_.sent.back().second.mad);
  }
  Notice LastNotice() { return wire::Decode<Notice>(LastSmp().data); }
  template <class Details>
  Details LastDetails() {
    return wire::Decode<Details>(LastNotice().data_details);
  }
  void Repress(topology::NodeId node, int port, uint64_t tid) {
    mad::Smp smp = Request(Method::kTrapRepress, AttributeId::kNotice, 0);
    smp.tid = tid;
    Send(node, port, smp);
  }
};

TEST_F(TrapsTest, ASwitchReportsAChangeOfItsLinks) {
  sma_.notices().OnLinkStateChange(kSwitch);
  ASSERT_THAT(mads_.sent, SizeIs(1));
  EXPECT_EQ(mads_.sent[0].first, subnet_.port_id(kSwitch, 0));
  EXPECT_EQ(mads_.sent[0].second.to.dlid, Lid{1});
  EXPECT_EQ(mads_.sent[0].second.qp, 0);
  EXPECT_EQ(LastSmp().method, Method::kTrap);
  EXPECT_EQ(LastSmp().mgmt_class, mad::MgmtClass::kSubnetLidRouted);
  EXPECT_EQ(LastNotice().trap_number, TrapNumber::kLinkStateChange);
  EXPECT_EQ(LastNotice().type, mad::NoticeType::kUrgent);
  EXPECT_EQ(LastNotice().producer_type,
            static_cast<uint32_t>(mad::NodeType::kSwitch));
  EXPECT_EQ(LastNotice().issuer_lid, Lid{7});
  EXPECT_EQ(LastDetails<mad::LinkStateDetails>().lid, Lid{7});
}

TEST_F(TrapsTest, RepeatsUntilRepressed) {
  sma_.notices().OnLinkStateChange(kSwitch);
  const uint64_t tid = LastSmp().tid;
  timers_.RunFor(absl::Seconds(2.2));  // SubnetTimeOut 18: 1.07 s
  EXPECT_THAT(mads_.sent, SizeIs(3));
  EXPECT_EQ(LastSmp().tid, tid);

  Repress(kSwitch, 2, tid + 1);
  EXPECT_EQ(verdict_, LocalVerdict::kUnhandled);
  Repress(kSwitch, 2, tid);
  EXPECT_EQ(verdict_, LocalVerdict::kConsumed);
  EXPECT_TRUE(timers_.idle());
  timers_.RunFor(absl::Seconds(10));
  EXPECT_THAT(mads_.sent, SizeIs(3));
}

// A port may ask for every 4 us, and then repress nothing.
TEST_F(TrapsTest, RepeatsAHundredTimesASecondAtMost) {
  PortOf(kHost, 1).info.subnet_timeout = 0;
  sma_.notices().OnLocalChange(subnet_.port_id(kHost, 1),
                               SmaNotices::LocalChange::kCapabilityMask);
  timers_.RunFor(absl::Milliseconds(1005));
  EXPECT_THAT(mads_.sent, SizeIs(101));
}

TEST_F(TrapsTest, SendsOnceMoreWhatHappenedAgainBeforeTheRepress) {
  sma_.notices().OnLinkStateChange(kSwitch);
  const uint64_t tid = LastSmp().tid;
  sma_.notices().OnLinkStateChange(kSwitch);
  sma_.notices().OnLinkStateChange(kSwitch);
  EXPECT_THAT(mads_.sent, SizeIs(1));
  Repress(kSwitch, 1, tid);
  EXPECT_THAT(mads_.sent, SizeIs(2));
  EXPECT_NE(LastSmp().tid, tid);
  Repress(kSwitch, 1, LastSmp().tid);
  EXPECT_THAT(mads_.sent, SizeIs(2));
  EXPECT_TRUE(timers_.idle());
}

TEST_F(TrapsTest, SendsNothingWithoutManagerOrActiveLink) {
  PortOf(kSwitch, 0).info.master_sm_lid = Lid::kUnassigned;
  sma_.notices().OnLinkStateChange(kSwitch);
  PortOf(kHost, 1).info.port_state = mad::PortState::kArmed;
  sma_.notices().OnLocalChange(subnet_.port_id(kHost, 1),
                               SmaNotices::LocalChange::kCapabilityMask);
  EXPECT_THAT(mads_.sent, IsEmpty());
  EXPECT_TRUE(timers_.idle());
}

TEST_F(TrapsTest, ForgetsItsTrapsWhenThePortGoesDown) {
  sma_.notices().OnLocalChange(subnet_.port_id(kHost, 1),
                               SmaNotices::LocalChange::kCapabilityMask);
  links_.SetCable(subnet_.port_id(kHost, 1), false);
  timers_.RunFor(absl::Seconds(5));
  EXPECT_THAT(mads_.sent, SizeIs(1));
  EXPECT_TRUE(timers_.idle());
}

TEST_F(TrapsTest, ReportsLocalChanges) {
  PortOf(kHost, 1).info.capability_mask |= mad::capability::kIsSm;
  sma_.notices().OnLocalChange(subnet_.port_id(kHost, 1),
                               SmaNotices::LocalChange::kCapabilityMask);
  EXPECT_EQ(LastNotice().trap_number, TrapNumber::kLocalChange);
  auto details = LastDetails<mad::LocalChangeDetails>();
  EXPECT_EQ(details.lid, Lid{5});
  EXPECT_EQ(details.capability_mask, PortOf(kHost, 1).info.capability_mask);
  EXPECT_FALSE(details.other_local_changes);

  sma_.notices().OnLocalChange(subnet_.port_id(kHost, 1),
                               SmaNotices::LocalChange::kNodeDescription);
  details = LastDetails<mad::LocalChangeDetails>();
  EXPECT_TRUE(details.other_local_changes);
  EXPECT_TRUE(details.node_description_change);
}

TEST_F(TrapsTest, ReportsABadMKeyWithTheWayItCame) {
  PortOf(kHost, 1).info.m_key = 0x1234;
  mad::Smp smp = Request(Method::kSet, AttributeId::kPortInfo, 1);
  smp.mgmt_class = mad::MgmtClass::kSubnetDirectedRoute;
  smp.m_key = 0x66;
  smp.dr_slid = Lid::kPermissive;
  smp.hop_count = 2;
  smp.return_path[1] = 4;
  EXPECT_FALSE(Send(kHost, 1, smp).has_value());

  EXPECT_EQ(LastNotice().trap_number, TrapNumber::kBadMKey);
  EXPECT_EQ(LastNotice().type, mad::NoticeType::kSecurity);
  const auto details = LastDetails<mad::BadMKeyDetails>();
  EXPECT_EQ(details.lid, Lid{9});
  EXPECT_EQ(details.dr_slid, Lid::kPermissive);
  EXPECT_EQ(details.method, Method::kSet);
  EXPECT_EQ(details.attr_id, AttributeId::kPortInfo);
  EXPECT_EQ(details.attr_mod, 1u);
  EXPECT_EQ(details.m_key, 0x66u);
  EXPECT_TRUE(details.dr_notice);
  EXPECT_FALSE(details.dr_path_truncated);
  EXPECT_EQ(details.dr_hop_count, 2);
  EXPECT_EQ(details.dr_notice_return_path[1], 4);
}

TEST_F(TrapsTest, ReportsBadKeysOfPackets) {
  const mad::BadKeyDetails packet = {.lid1 = Lid{6},
                                     .lid2 = Lid{5},
                                     .key = 0x8001,
                                     .sl = 2,
                                     .qp1 = 17,
                                     .qp2 = 1};
  for (const TrapNumber trap : {TrapNumber::kBadPKey, TrapNumber::kBadQKey}) {
    sma_.notices().OnBadKey(subnet_.port_id(kHost, 1),
                            {.trap = trap, .details = packet});
    EXPECT_EQ(LastNotice().trap_number, trap);
    EXPECT_EQ(LastNotice().type, mad::NoticeType::kSecurity);
    EXPECT_EQ(LastDetails<mad::BadKeyDetails>(), packet);
  }
  EXPECT_EQ(PortOf(kHost, 1).info.p_key_violations, 1);
  EXPECT_EQ(PortOf(kHost, 1).info.q_key_violations, 1);

  sma_.notices().OnSwitchBadPKey(subnet_.port_id(kSwitch, 3), packet);
  EXPECT_EQ(mads_.sent.back().first, subnet_.port_id(kSwitch, 0));
  EXPECT_EQ(LastNotice().trap_number, TrapNumber::kBadPKeyAtSwitchPort);
  EXPECT_EQ(LastDetails<mad::BadPKeyAtSwitchDetails>().port_num, 3);
  EXPECT_EQ(LastDetails<mad::BadPKeyAtSwitchDetails>().p_key, 0x8001);
  EXPECT_EQ(PortOf(kSwitch, 3).info.p_key_violations, 1);
}

TEST_F(TrapsTest, KeepsALimitedNumberOfNotices) {
  for (uint32_t key = 1; key <= 100; ++key) {
    sma_.notices().OnBadKey(subnet_.port_id(kHost, 1),
                            {.details = {.key = key}});
  }
  EXPECT_THAT(mads_.sent, SizeIs(16));
}

TEST_F(TrapsTest, GetNoticeGivesTheOldestThatWaits) {
  EXPECT_EQ(Get<Notice>(kSwitch, 1).type, mad::NoticeType::kEmpty);
  sma_.notices().OnLinkStateChange(kSwitch);
  EXPECT_EQ(Get<Notice>(kSwitch, 1).trap_number, TrapNumber::kLinkStateChange);
}

}  // namespace
}  // namespace ibemu::fabric
