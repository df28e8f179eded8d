#include "hca/model/in_process_function.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "gmock/gmock.h"
#include "hca/bus/pci_config.h"
#include "hca/model/pci_endpoint.h"
#include "testing/mad_builder.h"

namespace ibemu::hca::model {
namespace {

using testing::HasStatusCode;

// Register 0 of BAR 0 is memory; the rest does what a test asks.
class FakeEndpoint : public PciEndpoint {
 public:
  FakeEndpoint()
      : PciEndpoint(
            {.vendor = 1, .device = 2},
            {.bar = 0, .table_offset = 0x1000, .pending_offset = 0x1800},
            /*vectors=*/4) {
    config().AddMemoryBar(0, 0x2000);
  }

  using PciEndpoint::Interrupt;
  using PciEndpoint::ReadMemory;
  using PciEndpoint::WriteMemory;
  uint64_t stored = 0;

 protected:
  uint64_t ReadRegister(int, size_t, size_t) override { return stored; }
  void WriteRegister(int, size_t, size_t, uint64_t value) override {
    stored = value;
  }
  void ResetRegisters() override { stored = 0; }
};

class InProcessFunctionTest : public ::testing::Test {
 protected:
  InProcessFunctionTest() {
    pci_config::SetCommand(function_, /*memory=*/true, /*bus_master=*/true);
  }

  bool Readable(int vector) {
    pollfd ready{function_.InterruptFd(vector), POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
  }

  FakeEndpoint endpoint_;
  InProcessFunction function_{endpoint_};
  std::array<std::byte, 8> bytes_{std::byte{1}, std::byte{2}};
};

TEST_F(InProcessFunctionTest, ReachesRegisters) {
  const auto bar = function_.OpenBar(0);
  ASSERT_TRUE(bar.ok()) << bar.status();
  EXPECT_EQ((*bar)->size(), 0x2000u);
  (*bar)->Write64(8, 0x1122334455667788);
  EXPECT_EQ(endpoint_.stored, 0x1122334455667788u) << "in one piece";
  EXPECT_EQ((*bar)->Read32(0), 0x55667788u);
  EXPECT_THAT(function_.OpenBar(2), HasStatusCode(absl::StatusCode::kNotFound));
  EXPECT_THAT(function_.OpenBar(6), HasStatusCode(absl::StatusCode::kNotFound));
}

TEST_F(InProcessFunctionTest, SharesMemoryWithTheDevice) {
  const auto memory = function_.Allocate(5000);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(function_.mapped(), 5000u);
  EXPECT_EQ((*memory)->iova() % 4096, 0u);
  EXPECT_EQ((*memory)->bytes()[4999], std::byte{0});
  ASSERT_TRUE(endpoint_.WriteMemory((*memory)->iova() + 4990, bytes_));
  EXPECT_EQ((*memory)->bytes()[4991], std::byte{2});
}

TEST_F(InProcessFunctionTest, LetsTheDeviceReachNothingElse) {
  auto memory = function_.Allocate(4096);
  ASSERT_TRUE(memory.ok()) << memory.status();
  const uint64_t iova = (*memory)->iova();
  EXPECT_FALSE(endpoint_.WriteMemory(iova + 4089, bytes_)) << "beyond its end";
  EXPECT_FALSE(endpoint_.ReadMemory(iova - 1, bytes_));
  EXPECT_FALSE(endpoint_.ReadMemory(
      reinterpret_cast<uint64_t>((*memory)->bytes().data()), bytes_))
      << "a bus address is no pointer";
  memory->reset();
  EXPECT_FALSE(endpoint_.ReadMemory(iova, bytes_));
  EXPECT_EQ(function_.faults(), 4);
  EXPECT_EQ(function_.mapped(), 0u);
}

TEST_F(InProcessFunctionTest, TurnsMessagesIntoReadableDescriptors) {
  ASSERT_TRUE(function_.EnableInterrupts(2).ok());
  EXPECT_FALSE(Readable(0));
  endpoint_.Interrupt(1);
  EXPECT_FALSE(Readable(0));
  EXPECT_TRUE(Readable(1));
}

TEST_F(InProcessFunctionTest, HasAsManyVectorsAsTheDevice) {
  EXPECT_TRUE(function_.EnableInterrupts(4).ok());
  EXPECT_EQ(function_.EnableInterrupts(5).code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace ibemu::hca::model
