#include "hca/remote/mpqemu_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "hca/model/pci_endpoint.h"
#include "tests/hca/remote/fake_qemu.h"

namespace ibemu::hca::remote {
namespace {

using ::testing::ElementsAre;

// Registers that keep what is written.
class Scratch : public model::PciEndpoint {
 public:
  Scratch()
      : PciEndpoint({.vendor = 0x15b3, .device = 0x1003},
                    {.bar = 0, .table_offset = 0x800, .pending_offset = 0xc00},
                    1) {
    config().AddMemoryBar(0, 0x1000);
    config().AddMemoryBar(2, 0x2000);
  }

  struct Access {
    int bar;
    size_t offset, size;
    uint64_t value;
    bool operator==(const Access&) const = default;
  };
  std::vector<Access> writes;
  int resets = 0;

 protected:
  uint64_t ReadRegister(int bar, size_t offset, size_t size) override {
    return static_cast<uint64_t>(bar) << 32 | offset << 8 | size;
  }
  void WriteRegister(int bar, size_t offset, size_t size,
                     uint64_t value) override {
    writes.push_back({bar, offset, size, value});
  }
  void ResetRegisters() override { ++resets; }
};

class MpqemuLinkTest : public ::testing::Test {
 protected:
  MpqemuLinkTest() : MpqemuLinkTest(SocketPair()) {}

  // Sends and lets the link serve it; its answer, if there is one.
  std::optional<uint64_t> Ask(const std::vector<std::byte>& request) {
    SendTo(qemu_.get(), request);
    const auto served = link_.OnReadable();
    EXPECT_TRUE(served.ok() && *served) << served.status();
    const std::string answer = ReceiveFrom(qemu_.get());
    if (answer.size() != 24) return std::nullopt;
    uint64_t value = 0;
    std::memcpy(&value, answer.data() + 16, sizeof value);
    return value;
  }

  UniqueFd qemu_;
  Scratch device_;
  GuestMemory memory_;
  MpqemuLink link_;

 private:
  explicit MpqemuLinkTest(std::pair<UniqueFd, UniqueFd> ends)
      : qemu_(std::move(ends.second)),
        link_(std::move(ends.first), device_, memory_) {}
};

TEST_F(MpqemuLinkTest, ShowsConfigurationSpace) {
  EXPECT_EQ(Ask(ConfigReadMessage(PCI_VENDOR_ID, 4)), 0x100315b3u);
  EXPECT_EQ(Ask(ConfigReadMessage(PCI_DEVICE_ID, 2)), 0x1003u);
  EXPECT_EQ(Ask(ConfigReadMessage(0xfffffffe, 4)), 0xffffffffu);
  EXPECT_EQ(link_.counters().config_accesses, 3u);
}

TEST_F(MpqemuLinkTest, LetsTheBarsBeSized) {
  EXPECT_EQ(Ask(ConfigWriteMessage(PCI_BASE_ADDRESS_2, 4, 0xffffffff)), 0u);
  EXPECT_EQ(Ask(ConfigReadMessage(PCI_BASE_ADDRESS_2, 4)), 0xffffe000u);
}

TEST_F(MpqemuLinkTest, FindsTheBarByItsAddress) {
  Ask(ConfigWriteMessage(PCI_BASE_ADDRESS_0, 4, 0xfe000000));
  Ask(ConfigWriteMessage(PCI_BASE_ADDRESS_2, 4, 0xfd000000));
  EXPECT_EQ(Ask(BarReadMessage(0xfe000010, 4)), 0x1004u);
  EXPECT_EQ(Ask(BarReadMessage(0xfd001ff8, 8)), 0x2001ff808u);
  Ask(BarWriteMessage(0xfd000014, 4, 0xabcd));
  Ask(BarWriteMessage(0xfd000020, 8, 0x1122334455667788));
  EXPECT_THAT(device_.writes,
              ElementsAre(Scratch::Access{2, 0x14, 4, 0xabcd},
                          Scratch::Access{2, 0x20, 8, 0x1122334455667788}));
}

TEST_F(MpqemuLinkTest, NobodyAnswersWhereNoBarIs) {
  Ask(ConfigWriteMessage(PCI_BASE_ADDRESS_0, 4, 0xfe000000));
  EXPECT_EQ(Ask(BarReadMessage(0xfe001000, 4)), UINT64_MAX);
  EXPECT_EQ(Ask(BarReadMessage(0xfe000ffc, 8)), UINT64_MAX);
  EXPECT_EQ(Ask(BarWriteMessage(0xfdffffff, 1, 1)), 0u);
  EXPECT_EQ(link_.counters().stray_accesses, 3u);
}

TEST_F(MpqemuLinkTest, FollowsTheMemoryOfTheGuest) {
  const UniqueFd file = MemoryFile(8192);
  StoreWord(file, 4096, 0x77);
  const std::array<int, 1> files = {file.get()};
  SendTo(qemu_.get(), MemoryMessage(0x100000, 4096, 4096), files);
  ASSERT_TRUE(link_.OnReadable().ok());
  EXPECT_EQ(ReceiveFrom(qemu_.get()), "") << "QEMU waits for no answer";
  std::array<std::byte, 1> bytes;
  ASSERT_TRUE(memory_.Read(0x100000, bytes));
  EXPECT_EQ(bytes[0], std::byte{0x77});
}

TEST_F(MpqemuLinkTest, DescriptorsStayWithTheirMessageWhenSeveralCome) {
  const UniqueFd first = MemoryFile(4096);
  const UniqueFd second = MemoryFile(4096);
  StoreWord(second, 0, 2);
  SendTo(qemu_.get(), ConfigReadMessage(0, 4));
  SendTo(qemu_.get(), MemoryMessage(0, 4096, 0), std::array{first.get()});
  SendTo(qemu_.get(), Message(6, {}), std::array{first.get(), first.get()});
  SendTo(qemu_.get(), MemoryMessage(0, 4096, 0), std::array{second.get()});
  ASSERT_TRUE(link_.OnReadable().ok());
  std::array<std::byte, 1> bytes;
  ASSERT_TRUE(memory_.Read(0, bytes));
  EXPECT_EQ(bytes[0], std::byte{2});
}

TEST_F(MpqemuLinkTest, ResetsTheDevice) {
  EXPECT_EQ(Ask(Message(7, {})), 0u);
  EXPECT_EQ(device_.resets, 1);
}

TEST_F(MpqemuLinkTest, TellsOfAResetBeforeTheDeviceDoesIt) {
  std::vector<int> resets;
  link_.OnReset([&] { resets.push_back(device_.resets); });
  Ask(Message(7, {}));
  EXPECT_THAT(resets, ElementsAre(0));
}

TEST_F(MpqemuLinkTest, HasNothingToDoUnlessSomethingCame) {
  const auto served = link_.OnReadable();
  ASSERT_TRUE(served.ok());
  EXPECT_FALSE(*served);
}

TEST_F(MpqemuLinkTest, TellsThatQemuHasGone) {
  qemu_.Reset();
  EXPECT_TRUE(absl::IsUnavailable(link_.OnReadable().status()));
}

TEST_F(MpqemuLinkTest, TellsOfARequestWhoseAnswerNobodyTakes) {
  SendTo(qemu_.get(), ConfigReadMessage(0, 4));
  qemu_.Reset();
  EXPECT_TRUE(absl::IsUnavailable(link_.OnReadable().status()));
}

TEST_F(MpqemuLinkTest, TellsOfWhatNoQemuSends) {
  SendTo(qemu_.get(), Message(99, {}));
  EXPECT_TRUE(absl::IsInvalidArgument(link_.OnReadable().status()));
}

TEST_F(MpqemuLinkTest, TellsOfMemoryThatCantBeShared) {
  const UniqueFd file = MemoryFile(4096, 0);
  SendTo(qemu_.get(), MemoryMessage(0, 4096, 0), std::array{file.get()});
  EXPECT_TRUE(absl::IsInvalidArgument(link_.OnReadable().status()));
}

}  // namespace
}  // namespace ibemu::hca::remote
