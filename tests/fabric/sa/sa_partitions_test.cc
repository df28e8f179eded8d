// What full and limited members of a partition are told of each other and of
// the partition's groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/sa/group_parameters.h"
#include "mad/wire/sa_paths.h"
#include "mad/wire/sa_services.h"
#include "tests/fabric/sa/sa_fixture.h"

namespace ibemu::fabric {
namespace {

using mad::MadStatus, mad::McMemberRecord, mad::Method, mad::PathRecord;
using ::testing::IsEmpty, ::testing::SizeIs;

constexpr uint16_t kFull = 0xffff, kLimited = 0x7fff;
// The components with which IPoIB of Linux joins the broadcast group.
constexpr uint64_t kPartitionJoin = kComponentBit<&McMemberRecord::mgid> |
                                    kComponentBit<&McMemberRecord::port_gid> |
                                    kComponentBit<&McMemberRecord::p_key> |
                                    kComponentBit<&McMemberRecord::join_state>;
constexpr uint64_t kPartitionCreate =
    kPartitionJoin | kComponentBit<&McMemberRecord::q_key> |
    kComponentBit<&McMemberRecord::traffic_class> |
    kComponentBit<&McMemberRecord::flow_label> |
    kComponentBit<&McMemberRecord::sl>;
constexpr uint64_t kToGroup = kComponentBit<&PathRecord::dgid> |
                              kComponentBit<&PathRecord::sgid> |
                              kComponentBit<&PathRecord::p_key>;

// Both hosts are limited members; the subnet manager is a full one.
class SaPartitionsTest : public SaTest {
 protected:
  SaPartitionsTest() {
    PortOf(kHost, 1).SetPKey(0, kLimited);
    PortOf(kOtherHost, 1).SetPKey(0, kLimited);
  }

  SaAnswer Join(uint16_t p_key) {
    return Ask(Method::kSet,
               McMemberRecord{.mgid = IpoibBroadcastGroup().mgid,
                              .port_gid = GidOf(kHost),
                              .p_key = p_key,
                              .join_state = mad::kFullMember},
               kPartitionJoin);
  }
  // A group of IP's, beside the broadcast group.
  McMemberRecord IpGroup(topology::NodeId host, uint16_t p_key = kFull) {
    wire::Gid mgid = IpoibBroadcastGroup().mgid;
    mgid.interface_id = 0x10203;
    return {.mgid = mgid,
            .port_gid = GidOf(host),
            .q_key = 0xb1b,
            .p_key = p_key,
            .join_state = mad::kFullMember};
  }
  MadStatus PathTo(const wire::Gid& to, uint16_t p_key) {
    return Ask(Method::kGet,
               PathRecord{.dgid = to, .sgid = GidOf(kHost), .p_key = p_key},
               kToGroup)
        .status();
  }
};

// A group has the key of a full member, whoever joins, and so has a join, for
// IPoIB sets that bit of its key.
TEST_F(SaPartitionsTest, ALimitedMemberJoinsTheBroadcastGroup) {
  for (const uint16_t p_key : {kFull, kLimited}) {
    const SaAnswer joined = Join(p_key);
    ASSERT_EQ(joined.status(), MadStatus::kOk) << p_key;
    EXPECT_EQ(joined.As<McMemberRecord>().at(0).p_key, kFull);
  }
  const auto groups = Table<McMemberRecord>();
  ASSERT_THAT(groups, SizeIs(1)) << "it sees the group, too";
}

TEST_F(SaPartitionsTest, WhoIsNotInThePartitionDoesNotJoin) {
  PortOf(kHost, 1).SetPKey(1, 0x8001);
  const auto group = [&](uint16_t p_key) {
    return Ask(Method::kSet, IpGroup(kOtherHost, p_key), kPartitionCreate, 0,
               &other_)
        .status();
  };
  EXPECT_EQ(Join(0x8001).status(), MadStatus::kSaRequestInvalid)
      << "the group is not one of that partition";
  EXPECT_EQ(group(0x8001), MadStatus::kSaRequestInvalid);
  EXPECT_EQ(group(kFull), MadStatus::kOk);
}

TEST_F(SaPartitionsTest, ALimitedMemberMakesAGroupForOthers) {
  ASSERT_EQ(Ask(Method::kSet, IpGroup(kHost), kPartitionCreate).status(),
            MadStatus::kOk);
  EXPECT_EQ(Ask(Method::kSet, IpGroup(kOtherHost), kPartitionCreate, 0, &other_)
                .status(),
            MadStatus::kOk);
}

// As with opensm: two limited keys do not match, but for who made the group.
TEST_F(SaPartitionsTest, AGroupWithALimitedKeyIsJoinedWithAFullOne) {
  McMemberRecord group = IpGroup(kHost, kLimited);
  group.mgid.prefix = 0xff12'1234'0000'0000;
  ASSERT_EQ(Ask(Method::kSet, group, kPartitionCreate).status(),
            MadStatus::kOk);
  group.port_gid = GidOf(kOtherHost);
  const auto join = [&] {
    return Ask(Method::kSet, group, kPartitionJoin, 0, &other_).status();
  };
  EXPECT_EQ(join(), MadStatus::kSaRequestInvalid);
  group.p_key = kFull;
  EXPECT_EQ(join(), MadStatus::kOk);
}

TEST_F(SaPartitionsTest, AMemberIsToldThePathToItsGroup) {
  const wire::Gid mgid = IpoibBroadcastGroup().mgid;
  EXPECT_EQ(PathTo(mgid, kFull), MadStatus::kSaNoRecords) << "not a member yet";
  ASSERT_EQ(Join(kFull).status(), MadStatus::kOk);
  const SaAnswer path =
      Ask(Method::kGet,
          PathRecord{.dgid = mgid, .sgid = GidOf(kHost), .slid = LidOf(kHost)},
          kComponentBit<&PathRecord::dgid> | kComponentBit<&PathRecord::sgid> |
              kComponentBit<&PathRecord::slid>);
  ASSERT_EQ(path.status(), MadStatus::kOk);
  EXPECT_EQ(path.As<PathRecord>().at(0).p_key, kFull);
  EXPECT_EQ(path.As<PathRecord>().at(0).dlid, wire::Lid{0xc000});
  EXPECT_EQ(PathTo(mgid, kFull), MadStatus::kOk);
  EXPECT_EQ(PathTo(mgid, kLimited), MadStatus::kSaNoRecords)
      << "the group has another key";
  EXPECT_EQ(
      Ask(Method::kGet, PathRecord{.dgid = mgid, .slid = LidOf(kOtherHost)},
          kComponentBit<&PathRecord::dgid> | kComponentBit<&PathRecord::slid>)
          .status(),
      MadStatus::kSaNoRecords);
}

TEST_F(SaPartitionsTest, ALimitedMemberKnowsItselfAndFullMembers) {
  constexpr uint64_t kLid = kComponentBit<&mad::PortInfoRecord::lid>;
  const auto sees = [&](topology::NodeId node, int port) {
    return Table(mad::PortInfoRecord{.lid = PortOf(node, port).info.lid}, kLid)
               .size() == 1;
  };
  EXPECT_TRUE(sees(kHost, 1));
  EXPECT_TRUE(sees(kHost, 2)) << "a full member";
  EXPECT_FALSE(sees(kOtherHost, 1));
  PortOf(kOtherHost, 1).SetPKey(0, kFull);
  EXPECT_TRUE(sees(kOtherHost, 1));
}

// It has no key by which it could talk to itself.
TEST_F(SaPartitionsTest, ALimitedMemberHasNoPathToItself) {
  const auto path = [&] {
    return Ask(Method::kGet,
               PathRecord{.dlid = LidOf(kHost), .slid = LidOf(kHost)},
               kComponentBit<&PathRecord::dlid> |
                   kComponentBit<&PathRecord::slid>)
        .status();
  };
  EXPECT_EQ(path(), MadStatus::kSaNoRecords);
  PortOf(kHost, 1).SetPKey(0, kFull);
  EXPECT_EQ(path(), MadStatus::kOk);
}

TEST_F(SaPartitionsTest, ThereIsNoPathBetweenLimitedMembers) {
  EXPECT_EQ(PathTo(GidOf(kOtherHost), kFull), MadStatus::kSaNoRecords);
  EXPECT_EQ(PathTo(GidOf(kOtherHost), kLimited), MadStatus::kSaNoRecords);
  PortOf(kOtherHost, 1).SetPKey(0, kFull);
  for (const uint16_t p_key : {kFull, kLimited}) {
    const SaAnswer path = Ask(
        Method::kGet,
        PathRecord{
            .dgid = GidOf(kOtherHost), .sgid = GidOf(kHost), .p_key = p_key},
        kToGroup);
    ASSERT_EQ(path.status(), MadStatus::kOk);
    EXPECT_EQ(path.As<PathRecord>().at(0).p_key, p_key) << "as it was asked";
  }
}

}  // namespace
}  // namespace ibemu::fabric
