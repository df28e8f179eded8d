#include "cuse/split_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace ibemu::cuse {
namespace {

using ::testing::SizeIs;
using Verdict = SplitWrites::Verdict;

constexpr size_t kPiece = 128 << 10;
constexpr pid_t kClient = 10;
constexpr pid_t kOther = 11;

std::vector<std::byte> Data(size_t size, int fill = 0) {
  return std::vector<std::byte>(size, std::byte(fill));
}

class SplitWritesTest : public ::testing::Test {
 protected:
  Verdict Add(uint64_t offset, size_t size, pid_t tid = kClient) {
    return writes_.Add(tid, offset, Data(size), kPiece);
  }

  std::map<pid_t, size_t> known_sizes_;
  SplitWrites writes_{[this](pid_t tid) -> absl::StatusOr<size_t> {
    const auto it = known_sizes_.find(tid);
    if (it == known_sizes_.end()) return absl::PermissionDeniedError("");
    return it->second;
  }};
};

TEST_F(SplitWritesTest, PiecesOfAKnownCallMakeAWhole) {
  known_sizes_[kClient] = kPiece + 10;
  EXPECT_EQ(Add(0, kPiece - 16), Verdict::kMore);
  EXPECT_TRUE(writes_.pending());
  EXPECT_EQ(Add(kPiece - 16, 26), Verdict::kWhole);
  EXPECT_THAT(writes_.TakeWhole(), SizeIs(kPiece + 10));
  EXPECT_FALSE(writes_.pending());
}

TEST_F(SplitWritesTest, AKnownCallMayEndWhereAPieceDoes) {
  known_sizes_[kClient] = kPiece;
  EXPECT_EQ(Add(0, kPiece), Verdict::kWhole);
}

TEST_F(SplitWritesTest, AnUnknownCallEndsWithAShortPieceOrMayHaveEnded) {
  EXPECT_EQ(Add(0, kPiece - 16), Verdict::kMaybe);
  EXPECT_EQ(Add(kPiece - 16, kPiece), Verdict::kMaybe);
  EXPECT_EQ(Add(2 * kPiece - 16, 100), Verdict::kWhole);
}

TEST_F(SplitWritesTest, APieceThatContinuesNothingIsInvalid) {
  EXPECT_EQ(Add(100, 100), Verdict::kInvalid);
  known_sizes_[kClient] = 3 * kPiece;
  EXPECT_EQ(Add(0, kPiece), Verdict::kMore);
  EXPECT_EQ(Add(kPiece, kPiece, kOther), Verdict::kInvalid);
  EXPECT_EQ(Add(kPiece + 1, kPiece), Verdict::kInvalid);
  EXPECT_EQ(Add(kPiece, kPiece), Verdict::kMore);
}

TEST(SplitReadsTest, ARestIsReadInOrderByItsThread) {
  SplitReads reads;
  reads.Keep(kClient, 100, Data(250));
  EXPECT_THAT(reads.Next(kOther, 100, 100), SizeIs(0));
  EXPECT_THAT(reads.Next(kClient, 99, 100), SizeIs(0));
  EXPECT_THAT(reads.Next(kClient, 100, 100), SizeIs(100));
  EXPECT_THAT(reads.Next(kClient, 200, 100), SizeIs(50));
  EXPECT_THAT(reads.Next(kClient, 250, 100), SizeIs(0));
}

TEST(SplitReadsTest, ThreadsReadTheirOwnRests) {
  SplitReads reads;
  reads.Keep(kClient, 1, Data(2, 0xa));
  reads.Keep(kOther, 1, Data(2, 0xb));
  EXPECT_EQ(reads.Next(kOther, 1, 1)[0], std::byte{0xb});
  EXPECT_EQ(reads.Next(kClient, 1, 1)[0], std::byte{0xa});
}

TEST(SplitReadsTest, ANewReadForgetsTheOldRest) {
  SplitReads reads;
  reads.Keep(kClient, 1, Data(2));
  reads.Forget(kClient);
  EXPECT_TRUE(reads.empty());
}

}  // namespace
}  // namespace ibemu::cuse
