#include "cuse/fuse/split_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace ibemu::cuse {
namespace {

using ::testing::ElementsAreArray;
using ::testing::SizeIs;
using Verdict = SplitWrites::Verdict;

constexpr size_t kRequestBytes = 128 << 10;
constexpr pid_t kClient = 10;
constexpr pid_t kOther = 11;

std::vector<std::byte> Data(size_t size, int fill = 0) {
  return std::vector<std::byte>(size, std::byte(fill));
}

// Bytes that can be told apart.
std::vector<std::byte> Count(size_t size) {
  std::vector<std::byte> bytes = Data(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = std::byte(i);
  return bytes;
}

class SplitWritesTest : public ::testing::Test {
 protected:
  Verdict Add(uint64_t offset, size_t size, pid_t tid = kClient) {
    return Add(offset, Data(size), /*head_size=*/0, tid);
  }
  Verdict Add(uint64_t offset, mad::Bytes data, size_t head_size,
              pid_t tid = kClient) {
    return writes_.Add({.tid = tid,
                        .user = user_,
                        .offset = offset,
                        .data = data,
                        .limit = kRequestBytes,
                        .head_size = head_size,
                        .longest = longest_});
  }

  uid_t user_ = 1000;
  size_t longest_ = 8 * kRequestBytes;
  std::map<pid_t, size_t> known_sizes_;
  CallBudget budget_{80 * kRequestBytes, 160 * kRequestBytes};
  SplitWrites writes_{[this](pid_t tid) -> absl::StatusOr<size_t> {
                        const auto it = known_sizes_.find(tid);
                        if (it == known_sizes_.end())
                          return absl::PermissionDeniedError("");
                        return it->second;
                      },
                      budget_};
};

TEST_F(SplitWritesTest, PiecesOfAKnownCallMakeAWhole) {
  known_sizes_[kClient] = kRequestBytes + 10;
  EXPECT_EQ(Add(0, kRequestBytes - 16), Verdict::kMore);
  EXPECT_TRUE(writes_.pending(kClient));
  EXPECT_EQ(Add(kRequestBytes - 16, 26), Verdict::kWhole);
  EXPECT_THAT(writes_.TakeWhole(kClient).body, SizeIs(kRequestBytes + 10));
  EXPECT_FALSE(writes_.pending(kClient));
}

TEST_F(SplitWritesTest, TheHeadIsKeptApartHoweverItWasCut) {
  const std::vector<std::byte> written = Count(100);
  for (const size_t first : {10u, 64u, 90u}) {
    known_sizes_[kClient] = written.size();
    const auto pieces = mad::Bytes(written);
    EXPECT_EQ(Add(0, pieces.first(first), 64), Verdict::kMore);
    EXPECT_EQ(Add(first, pieces.subspan(first), 64), Verdict::kWhole);
    const SplitWrites::Whole whole = writes_.TakeWhole(kClient);
    EXPECT_THAT(whole.head, ElementsAreArray(pieces.first(64)));
    EXPECT_THAT(whole.body, ElementsAreArray(pieces.subspan(64)));
  }
}

TEST_F(SplitWritesTest, AWriteMayBeShorterThanAHead) {
  known_sizes_[kClient] = 10;
  EXPECT_EQ(Add(0, Data(10), 64), Verdict::kWhole);
  const SplitWrites::Whole whole = writes_.TakeWhole(kClient);
  EXPECT_THAT(whole.head, SizeIs(10));
  EXPECT_THAT(whole.body, SizeIs(0));
}

TEST_F(SplitWritesTest, AKnownCallMayEndWhereAPieceDoes) {
  known_sizes_[kClient] = kRequestBytes;
  EXPECT_EQ(Add(0, kRequestBytes), Verdict::kWhole);
}

TEST_F(SplitWritesTest, AnUnknownCallEndsWithAShortPieceOrMayHaveEnded) {
  EXPECT_EQ(Add(0, kRequestBytes - 16), Verdict::kMaybe);
  EXPECT_EQ(Add(kRequestBytes - 16, kRequestBytes), Verdict::kMaybe);
  EXPECT_EQ(Add(2 * kRequestBytes - 16, 100), Verdict::kWhole);
}

TEST_F(SplitWritesTest, APieceThatContinuesNothingIsInvalid) {
  EXPECT_EQ(Add(100, 100), Verdict::kInvalid);
  known_sizes_[kClient] = 3 * kRequestBytes;
  EXPECT_EQ(Add(0, kRequestBytes), Verdict::kMore);
  EXPECT_EQ(Add(kRequestBytes, kRequestBytes, kOther), Verdict::kInvalid);
  EXPECT_EQ(Add(kRequestBytes + 1, kRequestBytes), Verdict::kInvalid);
  EXPECT_EQ(Add(kRequestBytes, kRequestBytes), Verdict::kMore);
}

TEST_F(SplitWritesTest, ThreadsWriteAtTheSameTime) {
  known_sizes_ = {{kClient, kRequestBytes + 10}, {kOther, kRequestBytes + 20}};
  EXPECT_EQ(Add(0, kRequestBytes), Verdict::kMore);
  EXPECT_EQ(Add(0, kRequestBytes, kOther), Verdict::kMore);
  EXPECT_EQ(Add(kRequestBytes, 10), Verdict::kWhole);
  EXPECT_THAT(writes_.TakeWhole(kClient).body, SizeIs(kRequestBytes + 10));
  EXPECT_TRUE(writes_.pending(kOther));
  EXPECT_EQ(Add(kRequestBytes, 20, kOther), Verdict::kWhole);
  EXPECT_THAT(writes_.TakeWhole(kOther).body, SizeIs(kRequestBytes + 20));
}

TEST_F(SplitWritesTest, OfTooManyThreadsTheFirstIsGivenUp) {
  for (pid_t tid = 0; tid <= static_cast<pid_t>(SplitWrites::kMaxThreads);
       ++tid) {
    known_sizes_[tid] = 2 * kRequestBytes;
    EXPECT_EQ(Add(0, kRequestBytes, tid), Verdict::kMore);
  }
  EXPECT_EQ(Add(kRequestBytes, kRequestBytes, 0), Verdict::kInvalid);
  EXPECT_EQ(Add(kRequestBytes, kRequestBytes, 1), Verdict::kWhole);
}

TEST_F(SplitWritesTest, ACallThatIsTooLongIsRefusedAtOnce) {
  known_sizes_[kClient] = longest_ + 1;
  EXPECT_EQ(Add(0, kRequestBytes), Verdict::kTooLong);
  EXPECT_FALSE(writes_.pending(kClient));
  known_sizes_[kClient] = longest_;
  EXPECT_EQ(Add(0, kRequestBytes), Verdict::kMore);
}

TEST_F(SplitWritesTest, ACallOfUnknownSizeIsForgottenWhenItGetsTooLong) {
  for (uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(Add(i * kRequestBytes, kRequestBytes), Verdict::kMaybe);
  }
  EXPECT_EQ(Add(8 * kRequestBytes, 1), Verdict::kTooLong);
  EXPECT_FALSE(writes_.pending(kClient));
}

TEST_F(SplitWritesTest, AUserHasABudgetOverAllFiles) {
  const std::vector<std::byte> data = Data(40 * kRequestBytes);
  longest_ = data.size() + kRequestBytes;
  SplitWrites other_file([this](pid_t) { return longest_; }, budget_);
  for (const pid_t tid : {1, 2}) {
    known_sizes_[tid] = longest_;
    EXPECT_EQ(Add(0, 39 * kRequestBytes, tid), Verdict::kMore);
  }
  SplitWrites::Piece piece{.tid = kClient,
                           .user = user_,
                           .offset = 0,
                           .data = data,
                           .limit = kRequestBytes,
                           .head_size = 0,
                           .longest = longest_};
  EXPECT_EQ(other_file.Add(piece), Verdict::kNoMemory);
  EXPECT_FALSE(other_file.pending(kClient));
  piece.user = user_ + 1;
  EXPECT_EQ(other_file.Add(piece), Verdict::kMore);
  piece.user = user_;
  writes_.Forget(1);
  piece.data = mad::Bytes(data).first(39 * kRequestBytes);
  EXPECT_EQ(other_file.Add(piece), Verdict::kMore);
  EXPECT_EQ(Add(0, kRequestBytes, 1), Verdict::kNoMemory);
}

// It may be stuck for ever.
TEST_F(SplitWritesTest, AWriteIsChargedForWhatCameAndOnePieceMore) {
  known_sizes_[kOther] = longest_ = 80 * kRequestBytes;
  EXPECT_EQ(Add(0, kRequestBytes, kOther), Verdict::kMore);
  known_sizes_[kClient] = 78 * kRequestBytes;
  EXPECT_EQ(Add(0, 77 * kRequestBytes), Verdict::kMore);
  EXPECT_EQ(Add(77 * kRequestBytes, kRequestBytes), Verdict::kWhole);
  EXPECT_EQ(Add(kRequestBytes, kRequestBytes, kOther), Verdict::kNoMemory);
}

TEST_F(SplitWritesTest, AllUsersHaveABudgetTogether) {
  longest_ = 80 * kRequestBytes;
  for (const pid_t tid : {1, 2, 3}) {
    known_sizes_[tid] = longest_;
    user_ = static_cast<uid_t>(tid);
    EXPECT_EQ(Add(0, 60 * kRequestBytes, tid),
              tid == 3 ? Verdict::kNoMemory : Verdict::kMore);
  }
  writes_.Forget(1);
  EXPECT_EQ(Add(0, 60 * kRequestBytes, 3), Verdict::kMore);
}

TEST_F(SplitWritesTest, ABudgetGrowsWithACallOfUnknownSize) {
  longest_ = 100 * kRequestBytes;
  for (uint64_t i = 0; i < 80; ++i) {
    EXPECT_EQ(Add(i * kRequestBytes, kRequestBytes), Verdict::kMaybe);
  }
  EXPECT_EQ(Add(80 * kRequestBytes, kRequestBytes), Verdict::kNoMemory);
  EXPECT_FALSE(writes_.pending(kClient));
  EXPECT_EQ(Add(0, kRequestBytes), Verdict::kMaybe);
}

TEST_F(SplitWritesTest, WhatIsWholeIsNoLongerInTheBudget) {
  known_sizes_[kClient] = longest_ = 80 * kRequestBytes;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Add(0, 79 * kRequestBytes), Verdict::kMore);
    EXPECT_EQ(Add(79 * kRequestBytes, kRequestBytes), Verdict::kWhole);
    EXPECT_THAT(writes_.TakeWhole(kClient).body, SizeIs(longest_));
  }
}

class SplitReadsTest : public ::testing::Test {
 protected:
  bool Keep(pid_t tid, uint64_t offset, std::vector<std::byte> bytes,
            size_t sent, uid_t user = 1000) {
    return reads_.Keep({.tid = tid,
                        .user = user,
                        .bytes = std::move(bytes),
                        .sent = sent,
                        .offset = offset});
  }

  CallBudget budget_{1000, 1500};
  SplitReads reads_{budget_};
};

TEST_F(SplitReadsTest, ARestIsReadInOrderByItsThread) {
  const std::vector<std::byte> bytes = Count(190);
  const auto rest = mad::Bytes(bytes).subspan(40);
  ASSERT_TRUE(Keep(kClient, 100, bytes, 40));
  EXPECT_THAT(reads_.First(kClient),
              ElementsAreArray(mad::Bytes(bytes).first(40)));
  EXPECT_THAT(reads_.Next(kOther, 100, 100), SizeIs(0));
  EXPECT_THAT(reads_.Next(kClient, 99, 100), SizeIs(0));
  EXPECT_THAT(reads_.Next(kClient, 100, 100),
              ElementsAreArray(rest.first(100)));
  EXPECT_THAT(reads_.Next(kClient, 200, 100),
              ElementsAreArray(rest.subspan(100)));
  EXPECT_THAT(reads_.Next(kClient, 250, 100), SizeIs(0));
}

TEST_F(SplitReadsTest, WhatIsReadIsForgotten) {
  ASSERT_TRUE(Keep(kClient, 1, Data(3), 1));
  EXPECT_THAT(reads_.Next(kClient, 1, 1), SizeIs(1));
  reads_.ForgetIfRead(kClient);
  EXPECT_TRUE(reads_.pending(kClient));
  EXPECT_THAT(reads_.Next(kClient, 2, 1), SizeIs(1));
  reads_.ForgetIfRead(kClient);
  EXPECT_FALSE(reads_.pending(kClient));
  EXPECT_TRUE(reads_.empty());
  reads_.ForgetIfRead(kClient);
}

TEST_F(SplitReadsTest, ThreadsReadTheirOwnRests) {
  ASSERT_TRUE(Keep(kClient, 1, Data(1, 0xa), 0));
  ASSERT_TRUE(Keep(kOther, 1, Data(1, 0xb), 0));
  EXPECT_EQ(reads_.Next(kOther, 1, 1)[0], std::byte{0xb});
  EXPECT_EQ(reads_.Next(kClient, 1, 1)[0], std::byte{0xa});
}

TEST_F(SplitReadsTest, ANewReadForgetsTheOldRest) {
  ASSERT_TRUE(Keep(kClient, 1, Data(1), 0));
  reads_.Forget(kClient);
  EXPECT_TRUE(reads_.empty());
}

TEST_F(SplitReadsTest, RestsAreChargedToTheirUser) {
  SplitReads other_file(budget_);
  EXPECT_TRUE(Keep(1, 100, Data(600), 100));
  EXPECT_FALSE(other_file.Keep(
      {.tid = 2, .user = 1000, .bytes = Data(401), .sent = 0, .offset = 1}));
  EXPECT_TRUE(other_file.empty());
  EXPECT_TRUE(Keep(3, 100, Data(900), 100, /*user=*/1001));
  EXPECT_FALSE(Keep(4, 100, Data(1), 0, /*user=*/1002)) << "of all users";
  reads_.Forget(1);
  EXPECT_TRUE(other_file.Keep(
      {.tid = 2, .user = 1000, .bytes = Data(401), .sent = 0, .offset = 1}));
}

TEST_F(SplitReadsTest, AReadThatFindsNoBudgetForgetsTheLast) {
  EXPECT_TRUE(Keep(kClient, 100, Data(600), 100));
  EXPECT_TRUE(Keep(kClient, 100, Data(1000), 100));
  EXPECT_FALSE(Keep(kClient, 100, Data(1001), 100));
  EXPECT_TRUE(reads_.empty());
}

TEST_F(SplitReadsTest, OfTooManyThreadsTheFirstIsGivenUp) {
  for (pid_t tid = 0; tid <= static_cast<pid_t>(SplitReads::kMaxThreads);
       ++tid) {
    EXPECT_TRUE(Keep(tid, 1, Data(2), 1));
  }
  EXPECT_FALSE(reads_.pending(0));
  EXPECT_TRUE(reads_.pending(1));
}

}  // namespace
}  // namespace ibemu::cuse
