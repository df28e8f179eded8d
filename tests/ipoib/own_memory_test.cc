#include "ipoib/own_memory.h"

#include <gtest/gtest.h>

#include <memory>

#include "testing/virtual_timers.h"

namespace ibemu::ipoib {
namespace {

class OwnMemoryTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kEnd = OwnMemory::kStart + 16;

  static verbs::MemoryPiece Piece(uint64_t address, const char* text,
                                  size_t size) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text);
    return {
        .address = address,
        .buffer = std::make_shared<std::vector<std::byte>>(bytes, bytes + size),
        .size = size};
  }
  absl::StatusCode Write(uint64_t address, size_t size) {
    auto code = absl::StatusCode::kUnknown;
    memory_.Write({Piece(address, "0123456789abcdefXYZ", size)},
                  [&](const absl::Status& status) { code = status.code(); });
    EXPECT_EQ(code, absl::StatusCode::kUnknown);  // not before it returns
    timers_.RunPending();
    return code;
  }

  testing::VirtualTimers timers_;
  OwnMemory memory_{timers_, 16};
};

TEST_F(OwnMemoryTest, WhatIsWrittenIsThereAndIsRead) {
  ASSERT_EQ(Write(OwnMemory::kStart + 4, 3), absl::StatusCode::kOk);
  EXPECT_EQ(memory_.At(OwnMemory::kStart + 6, 1)[0], std::byte{'2'});
  auto piece = Piece(OwnMemory::kStart + 3, "....", 4);
  memory_.Read({piece},
               [](const absl::Status& status) { EXPECT_TRUE(status.ok()); });
  timers_.RunPending();
  EXPECT_EQ((*piece.buffer)[1], std::byte{'0'});
  EXPECT_EQ((*piece.buffer)[0], std::byte{0});
}

TEST_F(OwnMemoryTest, WhatLiesOutsideIsNotReached) {
  EXPECT_EQ(Write(OwnMemory::kStart, 16), absl::StatusCode::kOk);
  EXPECT_EQ(Write(OwnMemory::kStart, 17), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Write(OwnMemory::kStart - 1, 1), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Write(kEnd - 1, 2), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Write(kEnd + 1, 1), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Write(~uint64_t{0}, 2), absl::StatusCode::kDataLoss);
}

TEST_F(OwnMemoryTest, OnlyWhatIsThereIsPinned) {
  int pinned = 0, refused = 0;
  const auto count = [&](const auto& pin) { ++(pin.ok() ? pinned : refused); };
  memory_.PinPages(OwnMemory::kStart, 16, true, count);
  memory_.PinPages(OwnMemory::kStart, 17, true, count);
  timers_.RunPending();
  EXPECT_EQ(pinned, 1);
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace ibemu::ipoib
