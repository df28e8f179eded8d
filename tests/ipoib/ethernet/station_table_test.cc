#include "ipoib/ethernet/station_table.h"

#include <gtest/gtest.h>

#include "testing/virtual_timers.h"

namespace ibemu::ipoib {
namespace {

MacAddress Mac(int number) {
  return {2,
          0,
          0,
          0,
          static_cast<uint8_t>(number >> 8),
          static_cast<uint8_t>(number)};
}

class StationTableTest : public ::testing::Test {
 protected:
  void Learn(int station, uint16_t lid) {
    table_.Learn(Mac(station), {.lid = lid, .qpn = 9});
  }
  // 0: not known.
  int LidOf(int station) const {
    const StationTable::Place* const place = table_.Find(Mac(station));
    return place == nullptr ? 0 : place->lid;
  }

  testing::VirtualTimers timers_;
  StationTable table_{timers_};
};

TEST_F(StationTableTest, KnowsWhereAStationSentFromLast) {
  EXPECT_EQ(LidOf(1), 0);
  Learn(1, 5);
  Learn(2, 6);
  EXPECT_EQ(LidOf(1), 5);
  Learn(1, 7);
  EXPECT_EQ(LidOf(1), 7) << "it has moved";
  EXPECT_EQ(LidOf(2), 6);
}

TEST_F(StationTableTest, AStationThatIsSilentForFiveMinutesIsForgotten) {
  Learn(1, 5);
  timers_.RunFor(StationTable::kAge - absl::Nanoseconds(1));
  EXPECT_EQ(LidOf(1), 5);
  Learn(2, 6);
  timers_.RunFor(absl::Nanoseconds(1));
  EXPECT_EQ(LidOf(1), 0);
  EXPECT_EQ(LidOf(2), 6);
  EXPECT_TRUE(timers_.idle()) << "it looks at the time when it is asked";
}

TEST_F(StationTableTest, AFullTableLearnsOfOthersOnlyWhatIsNewOfOldOnes) {
  for (int i = 0; i < static_cast<int>(StationTable::kMax); ++i) Learn(i, 5);
  Learn(5000, 6);
  EXPECT_EQ(LidOf(5000), 0);
  Learn(0, 7);
  EXPECT_EQ(LidOf(0), 7);
  timers_.RunFor(StationTable::kAge);
  Learn(5000, 6);
  EXPECT_EQ(LidOf(5000), 6);
  EXPECT_EQ(table_.stations().size(), 1u);
}

TEST_F(StationTableTest, ForgetsAll) {
  Learn(1, 5);
  table_.Forget();
  EXPECT_EQ(LidOf(1), 0);
}

}  // namespace
}  // namespace ibemu::ipoib
