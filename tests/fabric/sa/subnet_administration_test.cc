#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/class_port_info.h"
#include "mad/wire/sa_records.h"
#include "tests/fabric/sa/sa_fixture.h"

namespace ibemu::fabric {
namespace {

using mad::MadStatus, mad::Method, mad::NodeRecord, mad::PortInfoRecord;
using ::testing::Each, ::testing::Field, ::testing::IsEmpty, ::testing::SizeIs;

TEST_F(SaTest, KnowsEveryEndPortByItsNodeRecord) {
  const auto records = Table<NodeRecord>();
  EXPECT_THAT(records, SizeIs(4));  // node-1 has two ports
}

TEST_F(SaTest, PicksRecordsByTheirComponents) {
  NodeRecord wanted;
  wanted.node_info.node_type = mad::NodeType::kSwitch;
  constexpr uint64_t kType = mad::kInnerComponentBit<&NodeRecord::node_info,
                                                     &mad::NodeInfo::node_type>;
  static_assert(kType == 1 << 4);
  const auto records = Table(wanted, kType);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].lid, SmLid());
  EXPECT_EQ(records[0].node_info.node_guid, wire::Guid{0x30});
}

TEST_F(SaTest, AnswersAGetWithTheOneRecordThatFits) {
  const auto answer = Ask(Method::kGet, NodeRecord{.lid = LidOf(kOtherHost)},
                          kComponentBit<&NodeRecord::lid>);
  EXPECT_EQ(answer.status(), MadStatus::kOk);
  EXPECT_EQ(answer.header.mad.method, Method::kGetResp);
  EXPECT_EQ(answer.header.attribute_offset, 14);
  EXPECT_FALSE(answer.header.rmpp.active);
  EXPECT_EQ(answer.As<NodeRecord>()[0].node_info.node_guid, wire::Guid{0x20});
}

TEST_F(SaTest, SaysWhenAGetFindsNoneOrSeveral) {
  EXPECT_EQ(Ask(Method::kGet, NodeRecord{}, 0).status(),
            MadStatus::kSaTooManyRecords);
  EXPECT_EQ(Ask(Method::kGet, NodeRecord{.lid = wire::Lid{999}},
                kComponentBit<&NodeRecord::lid>)
                .status(),
            MadStatus::kSaNoRecords);
}

TEST_F(SaTest, AnEmptyTableIsAnAnswerWithoutPayload) {
  const auto answer = Ask(Method::kGetTable, NodeRecord{.lid = wire::Lid{999}},
                          kComponentBit<&NodeRecord::lid>);
  EXPECT_EQ(answer.status(), MadStatus::kOk);
  EXPECT_TRUE(answer.header.rmpp.active);
  EXPECT_EQ(answer.header.attribute_offset, 0);
  EXPECT_THAT(answer.data, IsEmpty());
}

// The length of an RMPP message's last segment counts from behind the header of
// RMPP, and so may end within that of SA.
TEST_F(SaTest, IgnoresAMessageThatEndsInItsHeader) {
  mad::SaHeader header;
  header.mad.mgmt_class = mad::MgmtClass::kSubnetAdministration;
  header.mad.class_version = mad::kSaClassVersion;
  header.mad.method = Method::kGetTable;
  header.mad.attr_id = NodeRecord::kId;
  header.rmpp = {.type = mad::RmppType::kData,
                 .last = true,
                 .first = true,
                 .segment = 1,
                 .length_or_window = 19};
  mad::Outgoing packet{
      .qp = 1, .to = {.dlid = SmLid(), .qpn = 1, .qkey = mad::kQp1QKey}};
  wire::Encode(header, packet.mad);
  lab_.Transmit(1, packet);
  timers_.RunFor(absl::Seconds(10));
  EXPECT_THAT(client_.answers, IsEmpty());
  EXPECT_THAT(Table<NodeRecord>(), SizeIs(4));
}

TEST_F(SaTest, RefusesMethodsThatAnAttributeDoesNotHave) {
  const auto refused = Ask(Method::kSet, NodeRecord{}, 0);
  EXPECT_EQ(refused.status(), MadStatus::kUnsupportedAttribute);
  EXPECT_FALSE(refused.header.rmpp.active);
  EXPECT_EQ(Ask(Method::kDelete, PortInfoRecord{}, 0).status(),
            MadStatus::kUnsupportedAttribute);
  mad::SaHeader header;
  header.mad.method = Method::kGetTable;
  header.mad.attr_id = mad::AttributeId{0x7777};
  EXPECT_EQ(Ask(header, {}).status(), MadStatus::kUnsupportedAttribute);
  header.mad.method = Method{0x1f};
  EXPECT_EQ(Ask(header, {}).status(), MadStatus::kUnsupportedMethod);
}

TEST_F(SaTest, IsSilentForAWrongSmKey) {
  EXPECT_EQ(Ask(Method::kGetTable, NodeRecord{}, 0, 77).status(), kNoAnswer);
}

TEST_F(SaTest, TellsPKeysToWhoKnowsTheSmKeyOnly) {
  EXPECT_EQ(Ask(Method::kGetTable, mad::PKeyTableRecord{}, 0).status(),
            MadStatus::kSaRequestInvalid);
  const auto records =
      Table<mad::PKeyTableRecord>({}, 0, SubnetAdministration::kSmKey);
  // 4 blocks of each adapter's port, one of each of the switch's.
  EXPECT_THAT(records, SizeIs(3 * 4 + 5));
  EXPECT_EQ(records[0].table.p_keys[0], kDefaultPKey);
}

TEST_F(SaTest, HasARecordForEachPortOfASwitch) {
  const auto of_switch = Table(PortInfoRecord{.lid = SmLid()},
                               kComponentBit<&PortInfoRecord::lid>);
  EXPECT_THAT(of_switch, SizeIs(5));
  EXPECT_THAT(of_switch, Each(Field(&PortInfoRecord::lid, SmLid())));
}

TEST_F(SaTest, ComparesCapabilitiesBitByBitIfAsked) {
  constexpr uint64_t kMask =
      mad::kInnerComponentBit<&PortInfoRecord::port_info,
                              &mad::PortInfo::capability_mask>;
  static_assert(kMask == 1 << 7);
  PortInfoRecord wanted;
  wanted.port_info.capability_mask = mad::capability::kAutomaticMigration;
  EXPECT_THAT(Table(wanted, kMask), IsEmpty());

  mad::SaHeader header;
  header.mad.method = Method::kGetTable;
  header.mad.attr_id = PortInfoRecord::kId;
  header.mad.attr_mod = 1u << 31;
  header.component_mask = kMask;
  std::vector<std::byte> data(mad::kSaDataBytes);
  wire::Encode(wanted, data);
  EXPECT_THAT(Ask(header, data).As<PortInfoRecord>(), SizeIs(3));  // of CAs
}

TEST_F(SaTest, TellsLinksFromBothEnds) {
  const auto records = Table<mad::LinkRecord>();
  EXPECT_THAT(records, SizeIs(6));
  const auto from_host = Table(mad::LinkRecord{.from_lid = LidOf(kOtherHost)},
                               kComponentBit<&mad::LinkRecord::from_lid>);
  ASSERT_THAT(from_host, SizeIs(1));
  EXPECT_EQ(from_host[0].to_lid, SmLid());
  EXPECT_EQ(from_host[0].to_port, 3);
}

TEST_F(SaTest, ReadsTheTablesOfSwitchesAndPorts) {
  EXPECT_THAT(Table<mad::SwitchInfoRecord>(), SizeIs(1));
  const auto linear = Table<mad::LinearForwardingTableRecord>();
  ASSERT_THAT(linear, SizeIs(1));
  EXPECT_EQ(linear[0].table.ports[static_cast<size_t>(LidOf(kOtherHost))], 3);
  EXPECT_THAT(Table<mad::SlToVlMappingTableRecord>(), SizeIs(3 + 25));
  EXPECT_THAT(Table<mad::VlArbitrationTableRecord>(), SizeIs(4 * 8));
  EXPECT_THAT(Table<mad::GuidInfoRecord>(), SizeIs(4 * 4));
}

TEST_F(SaTest, NamesTheMaster) {
  const auto records = Table<mad::SmInfoRecord>();
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].lid, SmLid());
  EXPECT_EQ(records[0].sm_info.sm_state, mad::SmState::kMaster);
}

TEST_F(SaTest, SaysWhatItCanDo) {
  const auto answer = Ask(Method::kGet, mad::ClassPortInfo{}, 0);
  const auto info = answer.As<mad::ClassPortInfo>()[0];
  EXPECT_EQ(info.class_version, 2);
  EXPECT_EQ(info.redirect_qp, 1u);
}

TEST_F(SaTest, ForgetsAPortWhoseLinkIsCut) {
  ASSERT_TRUE(fabric_.SetLink(kOtherHost, 1, false).ok());
  timers_.RunFor(absl::Seconds(30));
  EXPECT_THAT(Table<NodeRecord>(), SizeIs(3));
}

TEST_F(SaTest, GivesAliasGuidsAndTakesThemBack) {
  constexpr uint64_t kEntry1 =
      mad::kInnerComponentBit<&mad::GuidInfoRecord::guid_info, &mad::GuidInfo::guids> << 1;
  constexpr uint64_t kBlock = kComponentBit<&mad::GuidInfoRecord::lid> |
                              kComponentBit<&mad::GuidInfoRecord::block_num>;
  const mad::GuidInfoRecord wanted{.lid = LidOf(kHost)};
  const auto given = Ask(Method::kSet, wanted, kBlock | kEntry1)
                         .As<mad::GuidInfoRecord>()[0]
                         .guid_info.guids[1];
  EXPECT_NE(given, 0u);
  EXPECT_EQ(PortOf(kHost, 1).GuidAt(1), given);
  // Port GUIDs stay; what another port has is not given twice.
  EXPECT_EQ(Ask(Method::kSet, wanted, kBlock | kEntry1 >> 1).status(),
            MadStatus::kSaRequestInvalid);
  mad::GuidInfoRecord taken{.lid = LidOf(kOtherHost)};
  taken.guid_info.guids[1] = given;
  EXPECT_EQ(Ask(Method::kSet, taken, kBlock | kEntry1)
                .As<mad::GuidInfoRecord>()[0]
                .guid_info.guids[1],
            0u);
  const auto deleted = Ask(Method::kDelete, wanted, kBlock | kEntry1);
  EXPECT_EQ(deleted.header.mad.method, Method::kDeleteResp);
  EXPECT_EQ(PortOf(kHost, 1).GuidAt(1), 0u);
}

}  // namespace
}  // namespace ibemu::fabric
