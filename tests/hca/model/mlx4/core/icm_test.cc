#include "hca/model/mlx4/core/icm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "hca/model/mlx4/core/qp_transitions.h"
#include "hca/model/mlx4/firmware/hcr.h"

namespace ibemu::hca::model::mlx4 {
namespace {

using Status = prm::CommandStatus;

// Bytes by bus address, of which only what was written is there.
class SparseMemory : public HostMemory {
 public:
  bool Read(uint64_t address, std::span<std::byte> into) override {
    for (std::byte& byte : into) {
      const auto found = bytes.find(address++);
      if (found == bytes.end()) return false;
      byte = found->second;
    }
    return true;
  }
  bool Write(uint64_t address, std::span<const std::byte> from) override {
    for (const std::byte byte : from) bytes[address++] = byte;
    return true;
  }
  std::map<uint64_t, std::byte> bytes;
};

class IcmTest : public ::testing::Test {
 protected:
  IcmTest() { icm_.SetSize(1 << 20); }
  Status Map(uint64_t page, uint64_t physical, uint8_t log = 0) {
    return icm_.Map(
        {.virtual_page = page, .physical_page = physical, .log2size = log});
  }

  SparseMemory memory_;
  Icm icm_{memory_};
};

TEST_F(IcmTest, RefusesAPageThatWasMappedTwice) {
  EXPECT_EQ(Map(4, 100, 2), Status::kOk);
  EXPECT_EQ(Map(4, 200), Status::kIcmError);
  EXPECT_EQ(Map(6, 200, 1), Status::kIcmError);
  EXPECT_EQ(Map(0, 200, 3), Status::kIcmError);
  EXPECT_EQ(Map(8, 200), Status::kOk);
  EXPECT_EQ(icm_.mapped_pages(), 5u);
}

TEST_F(IcmTest, RefusesMemoryThatIsNotAlignedToItsSize) {
  EXPECT_EQ(Map(4, 2, 2), Status::kBadParam);
}

TEST_F(IcmTest, TakesAChunkAtAnyPageOfItsOwn) {
  ASSERT_EQ(Map(2, 4, 2), Status::kOk);
  EXPECT_TRUE(icm_.Contains(2 * 4096, 4 * 4096));
  EXPECT_FALSE(icm_.Contains(6 * 4096, 1));
  const std::array<std::byte, 1> byte{std::byte{7}};
  ASSERT_TRUE(icm_.Write(3 * 4096, byte));
  EXPECT_EQ(memory_.bytes.at(5 * 4096), byte[0]);
}

TEST_F(IcmTest, RefusesAChunkThatBeginsBeyondItsSize) {
  EXPECT_EQ(Map(256, 0), Status::kIcmError);
  EXPECT_EQ(Map(254, 0, 1), Status::kOk);
}

TEST_F(IcmTest, ReadsAndWritesAcrossChunks) {
  ASSERT_EQ(Map(0, 100), Status::kOk);
  ASSERT_EQ(Map(1, 50), Status::kOk);
  const std::array<std::byte, 4> bytes{std::byte{1}, std::byte{2}, std::byte{3},
                                       std::byte{4}};
  ASSERT_TRUE(icm_.Write(4094, bytes));
  EXPECT_EQ(memory_.bytes.at(100 * 4096 + 4095), std::byte{2});
  EXPECT_EQ(memory_.bytes.at(50 * 4096), std::byte{3});
  std::array<std::byte, 4> back{};
  ASSERT_TRUE(icm_.Read(4094, back));
  EXPECT_EQ(back, bytes);
}

TEST_F(IcmTest, ReachesNothingThatIsNotMapped) {
  ASSERT_EQ(Map(0, 100), Status::kOk);
  std::array<std::byte, 4> bytes{};
  EXPECT_FALSE(icm_.Write(4094, bytes));
  EXPECT_TRUE(memory_.bytes.empty()) << "nor the part that is";
  EXPECT_TRUE(icm_.Contains(0, 4096));
  EXPECT_FALSE(icm_.Contains(0, 4097));
}

TEST_F(IcmTest, UnmapsAPieceOfAChunk) {
  ASSERT_EQ(Map(4, 100, 2), Status::kOk);
  icm_.Unmap(5 * 4096, 2);
  EXPECT_TRUE(icm_.Contains(4 * 4096, 4096));
  EXPECT_FALSE(icm_.Contains(5 * 4096, 1));
  EXPECT_FALSE(icm_.Contains(6 * 4096, 1));
  ASSERT_TRUE(icm_.Contains(7 * 4096, 4096));
  const std::array<std::byte, 1> byte{};
  ASSERT_TRUE(icm_.Write(7 * 4096, byte));
  EXPECT_TRUE(memory_.bytes.contains(103 * 4096));
}

TEST_F(IcmTest, UnmapsMoreThanThereIs) {
  ASSERT_EQ(Map(4, 100, 2), Status::kOk);
  ASSERT_EQ(Map(16, 200), Status::kOk);
  icm_.Unmap(0, 64);
  EXPECT_TRUE(icm_.empty());
}

TEST(HcrRegisterTest, GivesACommandWhenSoftwareGivesTheRegister) {
  Hcr hcr;
  EXPECT_FALSE(hcr.Write(prm::kHcrInModifier, 5));
  EXPECT_FALSE(hcr.Write(prm::kHcrToken, 0x12340000));
  const auto posted =
      hcr.Write(prm::kHcrStatus, prm::kHcrGo | prm::kHcrEvent | 3u << 12 | 4);
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->request.opcode, prm::Opcode::kQueryFw);
  EXPECT_EQ(posted->request.op_modifier, 3);
  EXPECT_EQ(posted->request.in_modifier, 5u);
  EXPECT_EQ(posted->token, 0x1234);
  EXPECT_TRUE(posted->by_event);
  EXPECT_TRUE(hcr.busy());
  hcr.Complete({.status = Status::kBadOp});
  EXPECT_FALSE(hcr.busy());
  EXPECT_EQ(hcr.Read(prm::kHcrStatus) >> 24, 0u) << "the event says it";
}

TEST(QpTransitions, LeadToErrorAndResetFromEverywhere) {
  using prm::Opcode;
  using prm::QpContextState;
  for (int state = 0; state < 8; ++state) {
    EXPECT_EQ(NextState(Opcode::k2ErrQp, static_cast<QpContextState>(state)),
              QpContextState::kError);
    EXPECT_EQ(NextState(Opcode::k2RstQp, static_cast<QpContextState>(state)),
              QpContextState::kReset);
  }
  EXPECT_EQ(NextState(Opcode::kRtr2RtsQp, QpContextState::kInit), std::nullopt);
  EXPECT_EQ(NextState(Opcode::kNop, QpContextState::kInit), std::nullopt);
}

TEST(QpTransitions, TakeThePKeyIndexOnlyWhenAsked) {
  prm::QpContext context;
  context.primary.pkey_index = 3;
  prm::QpContext given;
  given.primary.rlid = 9;
  TakeContext(prm::Opcode::kInit2RtrQp, 0, given, context);
  EXPECT_EQ(context.primary.rlid, 9);
  EXPECT_EQ(context.primary.pkey_index, 3);
  TakeContext(prm::Opcode::kRts2RtsQp, prm::kOptPKeyIndex, given, context);
  EXPECT_EQ(context.primary.pkey_index, 0);
}

}  // namespace
}  // namespace ibemu::hca::model::mlx4
