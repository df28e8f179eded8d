#include "hca/model/pci_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ibemu::hca::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr MsixPlace kPlace = {
    .bar = 0, .table_offset = 0x800, .pending_offset = 0xc00};

// Memory of 16 bytes at 0x1000.
class FakeHost : public PciHost {
 public:
  bool ReadMemory(uint64_t address, std::span<std::byte> into) override {
    if (address != 0x1000 || into.size() > memory.size()) return false;
    std::copy_n(memory.begin(), into.size(), into.begin());
    return true;
  }
  bool WriteMemory(uint64_t address, std::span<const std::byte> from) override {
    if (address != 0x1000 || from.size() > memory.size()) return false;
    std::copy(from.begin(), from.end(), memory.begin());
    return true;
  }
  void SignalMessage(uint64_t address, uint32_t data) override {
    messages.emplace_back(address, data);
  }

  std::array<std::byte, 16> memory{};
  std::vector<std::pair<uint64_t, uint32_t>> messages;
};

class FakeEndpoint : public PciEndpoint {
 public:
  FakeEndpoint() : PciEndpoint({.vendor = 0x15b3}, kPlace, 4) {
    config().AddMemoryBar(0, 0x1000);
    config().AddPciExpress({});
  }

  using PciEndpoint::Interrupt;
  using PciEndpoint::ReadMemory;
  using PciEndpoint::WriteMemory;

  std::vector<std::pair<size_t, uint64_t>> written;
  int resets = 0;

 protected:
  uint64_t ReadRegister(int, size_t offset, size_t) override { return offset; }
  void WriteRegister(int, size_t offset, size_t, uint64_t value) override {
    written.emplace_back(offset, value);
  }
  void ResetRegisters() override { ++resets; }
};

class PciEndpointTest : public ::testing::Test {
 protected:
  PciEndpointTest() { endpoint_.SetHost(&host_); }

  void EnableMsix() {
    const size_t place = endpoint_.ReadConfig(PCI_CAPABILITY_LIST, 1);
    ASSERT_EQ(endpoint_.ReadConfig(place, 1), uint32_t{PCI_CAP_ID_MSIX});
    endpoint_.WriteConfig(place + PCI_MSIX_FLAGS, 2, PCI_MSIX_FLAGS_ENABLE);
    endpoint_.WriteBar(0, 0x810, 8, 0xfee00000);
    endpoint_.WriteBar(0, 0x818, 8, 0x41);  // data, and no mask
  }
  void SetBusMaster() {
    endpoint_.WriteConfig(PCI_COMMAND, 2, PCI_COMMAND_MASTER);
  }

  FakeHost host_;
  FakeEndpoint endpoint_;
};

TEST_F(PciEndpointTest, TheModelSeesAllButTheTableOfVectors) {
  endpoint_.WriteBar(0, 0x7f8, 8, 1);
  endpoint_.WriteBar(0, 0x800, 4, 2);
  endpoint_.WriteBar(0, 0xc00, 4, 3);
  endpoint_.WriteBar(0, 0x840, 4, 4);
  EXPECT_THAT(endpoint_.written, ElementsAre(Pair(0x7f8, 1), Pair(0x840, 4)));
  EXPECT_EQ(endpoint_.ReadBar(0, 0x7f8, 4), 0x7f8u);
  EXPECT_EQ(endpoint_.ReadBar(0, 0x80c, 4), 1u);  // masked
  EXPECT_EQ(endpoint_.ReadBar(0, 0xc00, 8), 0u);
}

TEST_F(PciEndpointTest, OutsideOfABarThereIsNothing) {
  endpoint_.WriteBar(0, 0x1000, 4, 1);
  endpoint_.WriteBar(0, 0xffc, 8, 1);
  endpoint_.WriteBar(1, 0, 4, 1);
  endpoint_.WriteBar(0, 2, 4, 1);
  EXPECT_THAT(endpoint_.written, IsEmpty());
  EXPECT_EQ(endpoint_.ReadBar(0, 0x1000, 4), 0u);
  EXPECT_EQ(endpoint_.ReadBar(0, SIZE_MAX, 1), 0u);
}

TEST_F(PciEndpointTest, ReachesMemoryOnlyAsBusMaster) {
  std::array<std::byte, 2> bytes = {std::byte{1}, std::byte{2}};
  EXPECT_FALSE(endpoint_.WriteMemory(0x1000, bytes));
  EXPECT_FALSE(endpoint_.ReadMemory(0x1000, bytes));
  SetBusMaster();
  EXPECT_TRUE(endpoint_.WriteMemory(0x1000, bytes));
  EXPECT_EQ(host_.memory[1], std::byte{2});
  EXPECT_TRUE(endpoint_.ReadMemory(0x1000, bytes));
  EXPECT_FALSE(endpoint_.ReadMemory(0x2000, bytes));
}

TEST_F(PciEndpointTest, InterruptsOnlyAsBusMaster) {
  EnableMsix();
  endpoint_.Interrupt(1);
  EXPECT_THAT(host_.messages, IsEmpty());
  SetBusMaster();
  endpoint_.Interrupt(1);
  EXPECT_THAT(host_.messages, ElementsAre(Pair(0xfee00000, 0x41)));
}

TEST_F(PciEndpointTest, AVectorBeyondTheTableIsNone) {
  EnableMsix();
  SetBusMaster();
  endpoint_.Interrupt(4);
  endpoint_.Interrupt(-1);
  EXPECT_THAT(host_.messages, IsEmpty());
}

TEST_F(PciEndpointTest, AMaskedVectorShowsInThePendingBits) {
  EnableMsix();
  SetBusMaster();
  endpoint_.WriteBar(0, 0x81c, 4, 1);
  endpoint_.Interrupt(1);
  EXPECT_EQ(endpoint_.ReadBar(0, 0xc00, 8), 2u);
  endpoint_.WriteBar(0, 0x81c, 4, 0);
  EXPECT_THAT(host_.messages, ElementsAre(Pair(0xfee00000, 0x41)));
}

TEST_F(PciEndpointTest, AFunctionLevelResetResetsAll) {
  EnableMsix();
  SetBusMaster();
  const size_t msix = endpoint_.ReadConfig(PCI_CAPABILITY_LIST, 1);
  const size_t express = endpoint_.ReadConfig(msix + PCI_CAP_LIST_NEXT, 1);
  endpoint_.WriteConfig(express + PCI_EXP_DEVCTL, 2, PCI_EXP_DEVCTL_BCR_FLR);
  EXPECT_EQ(endpoint_.resets, 1);
  EXPECT_EQ(endpoint_.ReadConfig(PCI_COMMAND, 2), 0u);
  EXPECT_EQ(endpoint_.ReadBar(0, 0x810, 8), 0u);
  endpoint_.Interrupt(1);
  EXPECT_THAT(host_.messages, IsEmpty());
}

}  // namespace
}  // namespace ibemu::hca::model
