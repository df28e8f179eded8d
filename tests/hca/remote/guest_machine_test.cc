#include "hca/remote/guest_machine.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "tests/hca/remote/fake_qemu.h"

namespace ibemu::hca::remote {
namespace {

constexpr uint8_t kDevfn = 0x80;

// The remapping unit's registers, as qtest shows them; a thread of its own, as
// QEMU's main loop is.
class RemappingUnit {
 public:
  explicit RemappingUnit(int socket)
      : socket_(socket), thread_([this, socket] {
          std::string line;
          for (char next = 0; recv(socket, &next, 1, 0) == 1;) {
            line += next;
            if (next != '\n') continue;
            const bool is_status = line == "readl 0xfed9001c\n";
            const bool is_root = line == "readq 0xfed90020\n";
            EXPECT_TRUE(is_status || is_root) << line;
            const std::string answer = absl::StrFormat(
                "OK 0x%016x\n", is_root ? root.load() : status.load());
            ++reads;
            line.clear();
            SendTo(socket, std::as_bytes(std::span(answer)));
          }
        }) {}
  ~RemappingUnit() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
  }

  std::atomic<uint64_t> status = uint64_t{1} << 31;  // translation is on
  std::atomic<uint64_t> root = uint64_t{1} << 20;
  std::atomic<int> reads = 0;

 private:
  int socket_;
  std::thread thread_;
};

// 64 KiB at 1 MiB.
class GuestMachineTest : public ::testing::Test {
 protected:
  GuestMachineTest() : GuestMachineTest(SocketPair()) {
    std::vector<SyncMemory::Region> regions;
    regions.push_back({1 << 20, 1 << 16, 0, Duplicate(file_)});
    EXPECT_TRUE(memory_.Replace(regions).ok());
  }

  // Tables that map IOVA 0x2000 to 0x108000 and 0x3000 to 0x106000.
  void MakeTables() {
    StoreWord(file_, 0, 0x101001);
    StoreWord(file_, 0x1000 + kDevfn * 16, 0x102001);
    StoreWord(file_, 0x1000 + kDevfn * 16 + 8, 1);
    StoreWord(file_, 0x2000, 0x103003);
    StoreWord(file_, 0x3000, 0x104003);
    StoreWord(file_, 0x4000 + 2 * 8, 0x108003);
    StoreWord(file_, 0x4000 + 3 * 8, 0x106003);
  }

  UniqueFd qemu_;
  UniqueFd file_ = MemoryFile(1 << 16);
  GuestMemory memory_;
  QtestChannel qtest_;
  GuestMachine machine_{memory_, qtest_};
  std::array<std::byte, 8> bytes_ = {std::byte{0x11}, std::byte{0x22}};

 private:
  explicit GuestMachineTest(std::pair<UniqueFd, UniqueFd> ends)
      : qemu_(std::move(ends.second)), qtest_(std::move(ends.first)) {}
};

TEST_F(GuestMachineTest, ReachesMemoryByItsAddress) {
  EXPECT_TRUE(machine_.WriteMemory((1 << 20) + 16, bytes_));
  EXPECT_EQ(LoadWord(file_, 16), 0x2211u);
  std::array<std::byte, 2> back;
  EXPECT_TRUE(machine_.ReadMemory((1 << 20) + 16, back));
  EXPECT_EQ(back[1], std::byte{0x22});
  EXPECT_EQ(machine_.counters().faults, 0u);
}

TEST_F(GuestMachineTest, CountsWhatIsNotThere) {
  EXPECT_FALSE(machine_.WriteMemory(0x1000, bytes_));
  EXPECT_FALSE(machine_.ReadMemory(0x1000, bytes_));
  EXPECT_EQ(machine_.counters().faults, 2u);
}

TEST_F(GuestMachineTest, AMessageForTheInterruptControllerGoesToQemu) {
  machine_.SignalMessage(0xfee01004, 0x4022);
  EXPECT_EQ(ReceiveFrom(qemu_.get()), "writel 0xfee01004 0x4022\n");
  EXPECT_EQ(machine_.counters().interrupts, 1u);
}

TEST_F(GuestMachineTest, AMessageElsewhereIsAWriteToMemory) {
  machine_.SignalMessage((1 << 20) + 8, 0x99);
  EXPECT_EQ(ReceiveFrom(qemu_.get()), "");
  EXPECT_EQ(LoadWord(file_, 8), 0x99u);
}

TEST_F(GuestMachineTest, TellsEachTimeThatInterruptsAreLost) {
  std::vector<absl::Status> told;
  machine_.OnError(
      [&told](const absl::Status& status) { told.push_back(status); });
  machine_.SignalMessage(0xfee00000, 1);
  EXPECT_TRUE(told.empty());
  qemu_.Reset();
  machine_.SignalMessage(0xfee00000, 1);
  machine_.SignalMessage(0xfee00000, 1);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_TRUE(absl::IsUnavailable(told[1]));
}

TEST_F(GuestMachineTest, TellsThatTheIommuCantBeAsked) {
  std::vector<absl::Status> told;
  machine_.OnError(
      [&told](const absl::Status& status) { told.push_back(status); });
  machine_.AddIommu(kDevfn);
  qemu_.Reset();
  EXPECT_FALSE(machine_.ReadMemory(0x2000, bytes_));
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(GuestMachineTest, GoesThroughTheIommu) {
  RemappingUnit unit(qemu_.get());
  machine_.AddIommu(kDevfn);
  MakeTables();
  EXPECT_TRUE(machine_.WriteMemory(0x2ffc, bytes_));
  EXPECT_EQ(LoadWord(file_, 0x8ff8), uint64_t{0x2211} << 32);
  EXPECT_EQ(LoadWord(file_, 0x6000), 0u);
  StoreWord(file_, 0x6000, 0x33);
  EXPECT_TRUE(machine_.ReadMemory(0x2ffc, bytes_));
  EXPECT_EQ(bytes_[4], std::byte{0x33});
  EXPECT_EQ(unit.reads, 2) << "a register once, and the tables each time";
}

TEST_F(GuestMachineTest, NothingIsCopiedWhenOnePageIsMissing) {
  RemappingUnit unit(qemu_.get());
  machine_.AddIommu(kDevfn);
  MakeTables();
  StoreWord(file_, 0x4000 + 3 * 8, 0);
  EXPECT_FALSE(machine_.WriteMemory(0x2ffc, bytes_));
  EXPECT_EQ(LoadWord(file_, 0x8ff8), 0u);
  EXPECT_EQ(machine_.counters().faults, 1u);
}

TEST_F(GuestMachineTest, WhatIsUnmappedIsGoneAtOnce) {
  RemappingUnit unit(qemu_.get());
  machine_.AddIommu(kDevfn);
  MakeTables();
  EXPECT_TRUE(machine_.ReadMemory(0x2000, bytes_));
  StoreWord(file_, 0x4000 + 2 * 8, 0);
  EXPECT_FALSE(machine_.ReadMemory(0x2000, bytes_));
}

// The old tables may still translate, to what is somebody else's by now.
TEST_F(GuestMachineTest, AsksAgainWhereTheTablesAreAfterAReset) {
  RemappingUnit unit(qemu_.get());
  machine_.AddIommu(kDevfn);
  MakeTables();
  EXPECT_TRUE(machine_.WriteMemory(0x2000, bytes_));
  EXPECT_EQ(LoadWord(file_, 0x8000), 0x2211u);
  // Elsewhere IOVA 0x2000 leads to 0x107000.
  StoreWord(file_, 0x9000, 0x10a001);
  StoreWord(file_, 0xa000 + kDevfn * 16, 0x10b001);
  StoreWord(file_, 0xa000 + kDevfn * 16 + 8, 1);
  StoreWord(file_, 0xb000, 0x10c003);
  StoreWord(file_, 0xc000, 0x10d003);
  StoreWord(file_, 0xd000 + 2 * 8, 0x107003);
  unit.root = (1 << 20) + 0x9000;
  machine_.Reset();
  EXPECT_TRUE(machine_.WriteMemory(0x2000, bytes_));
  EXPECT_EQ(LoadWord(file_, 0x7000), 0x2211u);
  EXPECT_EQ(unit.reads, 4);
}

TEST_F(GuestMachineTest, AsksAgainAsLongAsTranslationIsOff) {
  RemappingUnit unit(qemu_.get());
  machine_.AddIommu(kDevfn);
  MakeTables();
  unit.status = 0;
  EXPECT_TRUE(machine_.ReadMemory((1 << 20) + 8, std::span(bytes_).first(1)));
  unit.status = uint64_t{1} << 31;
  EXPECT_TRUE(machine_.ReadMemory(0x2000, std::span(bytes_).first(1)));
}

}  // namespace
}  // namespace ibemu::hca::remote
