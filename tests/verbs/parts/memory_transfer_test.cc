#include "verbs/parts/memory_transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "testing/fake_memory.h"
#include "testing/virtual_timers.h"

namespace ibemu::verbs {
namespace {

using testing::FakeMemory;

verbs::Buffer BufferOf(std::string_view text) {
  auto buffer = std::make_shared<std::vector<std::byte>>(text.size());
  std::memcpy(buffer->data(), text.data(), text.size());
  return buffer;
}

class MemoryTransferTest : public ::testing::Test {
 protected:
  static MemoryRange In(const std::shared_ptr<FakeMemory>& memory,
                        size_t offset, size_t size) {
    return {memory, FakeMemory::kStart + offset, size};
  }
  verbs::Memory::Done Remember() {
    return [this](absl::Status status) { status_ = std::move(status); };
  }

  testing::VirtualTimers timers_;
  std::shared_ptr<FakeMemory> one_ = std::make_shared<FakeMemory>(timers_, 100);
  std::shared_ptr<FakeMemory> two_ = std::make_shared<FakeMemory>(timers_, 100);
  std::optional<absl::Status> status_;
};

TEST_F(MemoryTransferTest, APartMayBeginAndEndWithinRanges) {
  const MemoryRanges ranges = {In(one_, 0, 10), In(two_, 50, 10),
                               In(one_, 20, 10)};
  EXPECT_EQ(LengthOf(ranges), 30u);
  const auto part = PartOf(ranges, 8, 14);
  ASSERT_EQ(part.size(), 3u);
  EXPECT_EQ(part[0].address, FakeMemory::kStart + 8);
  EXPECT_EQ(part[0].size, 2u);
  EXPECT_EQ(part[1].memory, two_);
  EXPECT_EQ(part[1].size, 10u);
  EXPECT_EQ(part[2].address, FakeMemory::kStart + 20);
  EXPECT_EQ(part[2].size, 2u);
  EXPECT_EQ(LengthOf(PartOf(ranges, 25, 100)), 5u) << "there is no more";
  EXPECT_TRUE(PartOf(ranges, 0, 0).empty());
}

TEST_F(MemoryTransferTest, ScattersOneBufferOverTwoProcesses) {
  MemoryTransfer transfer;
  transfer.Add({In(one_, 0, 3), In(two_, 10, 4)}, BufferOf("..abcdefg"), 2);
  EXPECT_EQ(transfer.size(), 7u);
  transfer.Write(Remember());
  EXPECT_TRUE(transfer.empty()) << "ready for the next";
  EXPECT_FALSE(status_.has_value()) << "nothing happens at once";
  timers_.RunPending();
  ASSERT_TRUE(status_.has_value());
  EXPECT_TRUE(status_->ok());
  EXPECT_EQ(one_->Text(0, 3), "abc");
  EXPECT_EQ(two_->Text(10, 4), "defg");
}

TEST_F(MemoryTransferTest, GathersInOneCallWhatIsOfOneProcess) {
  one_->Put(0, "hello, world");
  const auto buffer = BufferOf("............");
  MemoryTransfer transfer;
  transfer.Add({In(one_, 7, 5)}, buffer, 0);
  transfer.Add({In(one_, 0, 5)}, buffer, 5);
  transfer.Read(Remember());
  timers_.RunPending();
  EXPECT_EQ(std::memcmp(buffer->data(), "worldhello..", 12), 0);
  EXPECT_EQ(one_->calls, 1);
}

TEST_F(MemoryTransferTest, TellsOfTheFirstErrorWhenAllHasEnded) {
  MemoryTransfer transfer;
  transfer.Add({In(one_, 99, 2), In(two_, 0, 2)}, BufferOf("abcd"), 0);
  transfer.Write(Remember());
  timers_.RunPending();
  ASSERT_TRUE(status_.has_value());
  EXPECT_TRUE(absl::IsDataLoss(*status_));
  EXPECT_EQ(two_->Text(0, 2), "cd");
}

}  // namespace
}  // namespace ibemu::verbs
