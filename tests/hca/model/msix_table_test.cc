#include "hca/model/msix_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace ibemu::hca::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class MsixTableTest : public ::testing::Test {
 protected:
  // What a driver writes to use a vector.
  void Arm(size_t vector, uint64_t address, uint32_t data) {
    const size_t entry = vector * MsixTable::kEntrySize;
    table_.WriteTable(entry, 8, address);
    table_.WriteTable(entry + 8, 4, data);
    table_.WriteTable(entry + 12, 4, 0);
  }
  void Mask(size_t vector, bool masked) {
    table_.WriteTable(vector * MsixTable::kEntrySize + 12, 4, masked ? 1 : 0);
  }

  std::vector<std::pair<uint64_t, uint32_t>> sent_;
  MsixTable table_{70, [this](uint64_t address, uint32_t data) {
                     sent_.emplace_back(address, data);
                   }};
};

TEST_F(MsixTableTest, SendsWhatTheDriverWroteToTheEntry) {
  table_.SetControl(/*enabled=*/true, /*all_masked=*/false);
  Arm(3, 0xfee01000, 0x4123);
  table_.Signal(3);
  EXPECT_THAT(sent_, ElementsAre(Pair(0xfee01000, 0x4123)));
}

TEST_F(MsixTableTest, AllVectorsAreMaskedAfterAReset) {
  table_.SetControl(true, false);
  Arm(0, 0xfee00000, 1);
  table_.Reset();
  EXPECT_EQ(table_.ReadTable(12, 4), 1u);
  EXPECT_EQ(table_.ReadTable(0, 8), 0u);
  Arm(0, 0xfee00000, 1);
  table_.Signal(0);
  EXPECT_THAT(sent_, IsEmpty()) << "it is disabled, too";
}

TEST_F(MsixTableTest, SaysNothingAndKeepsNothingUnlessItIsEnabled) {
  Arm(0, 0xfee00000, 1);
  table_.Signal(0);
  EXPECT_EQ(table_.ReadPending(0, 8), 0u);
  table_.SetControl(true, false);
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(MsixTableTest, AMaskedVectorIsPendingAndIsSentOnceWhenTheMaskGoes) {
  table_.SetControl(true, false);
  Arm(65, 0xfee00000, 7);
  Mask(65, true);
  table_.Signal(65);
  table_.Signal(65);
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_EQ(table_.ReadPending(8, 8), 2u);
  EXPECT_EQ(table_.ReadPending(8, 4), 2u);
  Mask(65, false);
  EXPECT_THAT(sent_, ElementsAre(Pair(0xfee00000, 7)));
  EXPECT_EQ(table_.ReadPending(8, 8), 0u);
}

TEST_F(MsixTableTest, TheMaskOfTheFunctionIsThatOfAllVectors) {
  table_.SetControl(true, true);
  Arm(0, 0xfee00000, 1);
  Arm(1, 0xfee00000, 2);
  table_.Signal(1);
  table_.Signal(0);
  EXPECT_THAT(sent_, IsEmpty());
  table_.SetControl(true, false);
  EXPECT_THAT(sent_, ElementsAre(Pair(0xfee00000, 1), Pair(0xfee00000, 2)));
}

TEST_F(MsixTableTest, WhatIsPendingIsForgottenWhenMsixIsDisabled) {
  table_.SetControl(true, true);
  Arm(0, 0xfee00000, 1);
  table_.Signal(0);
  table_.SetControl(false, false);
  table_.SetControl(true, false);
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(MsixTableTest, AnAddressIsThatOfAWord) {
  table_.WriteTable(0, 8, 0x1'fee0'1003);
  EXPECT_EQ(table_.ReadTable(0, 8), 0x1'fee0'1000u);
  EXPECT_EQ(table_.ReadTable(4, 4), 1u);
  EXPECT_EQ(table_.ReadTable(1, 1), 0x10u);
  EXPECT_EQ(table_.ReadTable(2, 2), 0xfee0u);
}

TEST_F(MsixTableTest, BytesCantBeWritten) {
  table_.WriteTable(8, 1, 0xff);
  table_.WriteTable(8, 2, 0xffff);
  EXPECT_EQ(table_.ReadTable(8, 4), 0u);
}

TEST_F(MsixTableTest, BeyondTheLastVectorThereIsNothing) {
  table_.WriteTable(table_.TableSize(), 4, 1);
  EXPECT_EQ(table_.ReadTable(table_.TableSize(), 4), 0u);
  EXPECT_EQ(table_.TableSize(), 70u * 16);
  EXPECT_EQ(table_.PendingSize(), 16u);
}

}  // namespace
}  // namespace ibemu::hca::model
