#include "fabric/sa/path_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/routing/path_rate.h"
#include "mad/wire/sa_paths.h"
#include "tests/fabric/sa/sa_fixture.h"

namespace ibemu::fabric {
namespace {

using mad::MadStatus, mad::Method, mad::MultiPathRecord, mad::PathRecord,
    mad::Selector;
using ::testing::IsEmpty, ::testing::SizeIs;

constexpr uint64_t kGids =
    kComponentBit<&PathRecord::sgid> | kComponentBit<&PathRecord::dgid>;
constexpr uint64_t kLids =
    kComponentBit<&PathRecord::slid> | kComponentBit<&PathRecord::dlid>;

class PathRecordsTest : public SaTest {
 protected:
  PathRecord Between() {
    return {.dgid = GidOf(kOtherHost), .sgid = GidOf(kHost)};
  }
};

TEST_F(PathRecordsTest, FindsThePathBetweenTwoGids) {
  const auto answer = Ask(Method::kGet, Between(), kGids);
  ASSERT_EQ(answer.status(), MadStatus::kOk);
  const PathRecord path = answer.As<PathRecord>()[0];
  EXPECT_EQ(path.slid, LidOf(kHost));
  EXPECT_EQ(path.dlid, LidOf(kOtherHost));
  EXPECT_EQ(path.p_key, kDefaultPKey);
  EXPECT_EQ(path.mtu, 5);
  EXPECT_EQ(path.rate, 16);  // 4x EDR: 100 Gb/s
  EXPECT_EQ(path.packet_life_time, 18);
  EXPECT_EQ(path.mtu_selector, Selector::kExactly);
  EXPECT_TRUE(path.reversible);
}

TEST_F(PathRecordsTest, APathToItselfTakesNoTime) {
  const auto answer =
      Ask(Method::kGet, PathRecord{.dlid = LidOf(kHost), .slid = LidOf(kHost)},
          kLids);
  ASSERT_EQ(answer.status(), MadStatus::kOk);
  EXPECT_EQ(answer.As<PathRecord>()[0].packet_life_time, 0);
}

TEST_F(PathRecordsTest, FindsAllPathsOfAPortAndOfAll) {
  EXPECT_THAT(Table(Between(), kComponentBit<&PathRecord::sgid>), SizeIs(4));
  EXPECT_THAT(Table<PathRecord>(), SizeIs(16));
}

TEST_F(PathRecordsTest, TellsNoPathThatTheTablesDoNotHave) {
  fabric_.subnet().node(kSwitch).sw->linear.Set(LidOf(kOtherHost),
                                                LinearTable::kNoPort);
  EXPECT_EQ(Ask(Method::kGet, Between(), kGids).status(),
            MadStatus::kSaNoRecords);
}

TEST_F(PathRecordsTest, ComparesMtuAndRateAsTheSelectorSays) {
  constexpr uint64_t kMtu = kComponentBit<&PathRecord::mtu_selector> |
                            kComponentBit<&PathRecord::mtu>;
  constexpr uint64_t kRate = kComponentBit<&PathRecord::rate_selector> |
                             kComponentBit<&PathRecord::rate>;
  PathRecord wanted = Between();
  wanted.mtu = 5;
  EXPECT_THAT(Table(wanted, kGids | kMtu), IsEmpty());  // greater than 4096
  wanted.mtu_selector = Selector::kLessThan;
  EXPECT_EQ(Table(wanted, kGids | kMtu).at(0).mtu, 4);
  wanted.rate = 16;
  EXPECT_THAT(Table(wanted, kGids | kRate), IsEmpty());
  wanted.rate = 12;  // 56 Gb/s
  EXPECT_THAT(Table(wanted, kGids | kRate), SizeIs(1));
  wanted.rate = 1;
  EXPECT_EQ(Ask(Method::kGetTable, wanted, kGids | kRate).status(),
            MadStatus::kSaRequestInvalid);
}

TEST_F(PathRecordsTest, GivesOnlyPathsOfAPartitionThatBothAreIn) {
  PathRecord wanted = Between();
  wanted.p_key = 0x8001;
  constexpr uint64_t kMask = kGids | kComponentBit<&PathRecord::p_key>;
  EXPECT_EQ(Ask(Method::kGet, wanted, kMask).status(), MadStatus::kSaNoRecords);
  PortOf(kHost, 1).SetPKey(1, 0x8001);
  PortOf(kOtherHost, 1).SetPKey(1, 0x0001);
  EXPECT_EQ(Ask(Method::kGet, wanted, kMask).status(), MadStatus::kOk);
}

TEST_F(PathRecordsTest, FindsPathsBetweenSeveralGids) {
  MultiPathRecord wanted{.sgid_count = 1, .dgid_count = 2};
  wanted.gids = {GidOf(kHost), GidOf(kOtherHost), GidOf(kHost)};
  constexpr uint64_t kCounts = kComponentBit<&MultiPathRecord::sgid_count> |
                               kComponentBit<&MultiPathRecord::dgid_count>;
  const auto answer = Ask(Method::kGetMulti, wanted, kCounts);
  EXPECT_EQ(answer.status(), MadStatus::kOk);
  EXPECT_EQ(answer.header.mad.attr_id, mad::AttributeId::kPathRecord);
  EXPECT_THAT(answer.As<PathRecord>(), SizeIs(2));

  EXPECT_EQ(Ask(Method::kGetMulti, wanted, 0).status(),
            MadStatus::kSaInsufficientComponents);
  wanted.gids[1].interface_id = 1;
  EXPECT_EQ(Ask(Method::kGetMulti, wanted, kCounts).status(),
            MadStatus::kSaInvalidGid);
}

TEST_F(PathRecordsTest, TracesAPathNodeByNode) {
  const auto answer = Ask(Method::kGetTraceTable, Between(), kGids);
  EXPECT_EQ(answer.header.mad.attr_id, mad::AttributeId::kTraceRecord);
  const auto hops = answer.As<mad::TraceRecord>();
  ASSERT_THAT(hops, SizeIs(3));
  EXPECT_EQ(hops[0].exit_port, 1);
  EXPECT_EQ(hops[1].node_id, 0x30u);
  EXPECT_EQ(hops[1].entry_port, 1);
  EXPECT_EQ(hops[1].exit_port, 3);
  EXPECT_EQ(hops[2].entry_port, 1);
}

TEST_F(PathRecordsTest, TracesAPathToItself) {
  const auto answer =
      Ask(Method::kGetTraceTable,
          PathRecord{.dlid = LidOf(kHost), .slid = LidOf(kHost)}, kLids);
  const auto hops = answer.As<mad::TraceRecord>();
  ASSERT_THAT(hops, SizeIs(1));
  EXPECT_EQ(hops[0].exit_port, 1);
}

TEST(PathRateTest, OrdersRatesBySpeedAndNotByCode) {
  EXPECT_LT(ComparePathRates(11, 10), 0);  // 14 and 120 Gb/s
  EXPECT_GT(ComparePathRates(2, 0), 0);
  EXPECT_EQ(SlowerPathRate(3), 5);  // 10 and 5 Gb/s
  EXPECT_EQ(SlowerPathRate(2), 0);
  EXPECT_EQ(PathRateWithin(400), 7);
  EXPECT_FALSE(IsPathRate(1));
}

}  // namespace
}  // namespace ibemu::fabric
