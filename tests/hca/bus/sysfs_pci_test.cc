#include "hca/bus/sysfs_pci.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "hca/bus/big_endian.h"
#include "hca/bus/pci_config.h"
#include "testing/mad_builder.h"
#include "tests/hca/bus/fake_sysfs.h"

namespace ibemu::hca {
namespace {

using testing::HasStatusCode;
using ::testing::HasSubstr;

std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class SysfsPciTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<SysfsPci>> TryToOpen(
      const std::string& name = FakeSysfs::kName) {
    return SysfsPci::Open(fake_.sysfs(),
                          *fake_.sysfs().Read(*PciAddress::Parse(name)),
                          fake_.root() + "/map");
  }
  std::unique_ptr<SysfsPci> Open() {
    auto opened = TryToOpen();
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  // A process whose pages are all where `entry` says.
  void SetPageMap(uint64_t entry) {
    map_.assign(reinterpret_cast<const char*>(&entry), sizeof entry);
    std::ofstream(fake_.root() + "/map", std::ios::binary) << map_;
  }

  void SetUp() override { SetPageMap(0); }

  FakeSysfs fake_;
  std::string map_;
};

TEST_F(SysfsPciTest, EnablesTheFunction) {
  const auto function = Open();
  ASSERT_TRUE(function);
  EXPECT_EQ(ReadAll(fake_.Path(FakeSysfs::kName, "enable")).front(), '1');
}

TEST_F(SysfsPciTest, DisablesAtTheEndWhatItHasEnabled) {
  auto function = Open();
  ASSERT_TRUE(function);
  function.reset();
  EXPECT_EQ(ReadAll(fake_.Path(FakeSysfs::kName, "enable")).front(), '0');
}

TEST_F(SysfsPciTest, LeavesEnabledWhatWasSoBefore) {
  fake_.Write(FakeSysfs::kName, "enable", "1\n");
  auto function = Open();
  ASSERT_TRUE(function);
  function.reset();
  EXPECT_EQ(ReadAll(fake_.Path(FakeSysfs::kName, "enable")), "1\n");
}

TEST_F(SysfsPciTest, KeepsTheInterruptPinDisabled) {
  const auto function = Open();
  ASSERT_TRUE(function);
  const auto is_disabled = [&function] {
    return (function->ReadConfig(pci_config::kCommand, 2) &
            pci_config::kCommandIntxDisable) != 0;
  };
  EXPECT_TRUE(is_disabled());
  // As a reset leaves it.
  function->WriteConfig(pci_config::kCommand, 2, 0);
  pci_config::SetCommand(*function, /*memory=*/true, /*bus_master=*/true);
  EXPECT_TRUE(is_disabled());
}

TEST_F(SysfsPciTest, RefusesAFunctionThatAnotherProgramDrives) {
  auto first = Open();
  ASSERT_TRUE(first);
  pci_config::SetCommand(*first, /*memory=*/true, /*bus_master=*/true);
  const auto second = TryToOpen();
  EXPECT_THAT(second, HasStatusCode(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("0000:3b:00.0: another program drives it (\"fuser -v " +
                        fake_.Path(FakeSysfs::kName, "config")));
  EXPECT_EQ(first->ReadConfig(pci_config::kCommand, 1), 6u)
      << "the refused one has changed nothing";
  fake_.Plug("0000:3b:00.1");
  EXPECT_TRUE(TryToOpen("0000:3b:00.1").ok()) << "it is another one";
  first.reset();
  EXPECT_TRUE(Open()) << "it was given back";
}

TEST_F(SysfsPciTest, ReadsAndWritesConfigurationSpace) {
  const auto function = Open();
  ASSERT_TRUE(function);
  function->WriteConfig(0x10, 4, 0x12345678);
  EXPECT_EQ(function->ReadConfig(0x10, 4), 0x12345678u);
  EXPECT_EQ(function->ReadConfig(0x11, 2), 0x3456u) << "it is little-endian";
  EXPECT_EQ(function->ReadConfig(0x1000, 4), ~uint32_t{0})
      << "where nothing is, a bus reads as ones";
}

TEST_F(SysfsPciTest, MapsABar) {
  const auto function = Open();
  ASSERT_TRUE(function);
  const auto bar = function->OpenBar(0);
  ASSERT_TRUE(bar.ok()) << bar.status();
  EXPECT_EQ((*bar)->size(), FakeSysfs::kBarSize);
  WriteBe32(**bar, 0x680, 0x01020304);
  WriteBe64(**bar, 0x688, 0x0506070811121314);
  EXPECT_EQ(ReadBe32(**bar, 0x680), 0x01020304u);
  const std::string bytes = ReadAll(fake_.Path(FakeSysfs::kName, "resource0"));
  EXPECT_EQ(bytes.substr(0x680, 4), "\x01\x02\x03\x04");
  EXPECT_EQ(bytes.substr(0x688, 8), "\x05\x06\x07\x08\x11\x12\x13\x14");
}

TEST_F(SysfsPciTest, HasNoBarOfIoPorts) {
  const auto function = Open();
  ASSERT_TRUE(function);
  EXPECT_THAT(function->OpenBar(1), HasStatusCode(absl::StatusCode::kNotFound));
  EXPECT_THAT(function->OpenBar(4), HasStatusCode(absl::StatusCode::kNotFound));
}

TEST_F(SysfsPciTest, HasNoBarBeyondTheSixth) {
  const auto function = Open();
  ASSERT_TRUE(function);
  EXPECT_THAT(function->OpenBar(6), HasStatusCode(absl::StatusCode::kNotFound));
  EXPECT_THAT(function->OpenBar(-1),
              HasStatusCode(absl::StatusCode::kNotFound));
}

TEST_F(SysfsPciTest, TakesBusMasteringAwayAtTheEnd) {
  auto function = Open();
  ASSERT_TRUE(function);
  pci_config::SetCommand(*function, /*memory=*/true, /*bus_master=*/true);
  const std::string path = fake_.Path(FakeSysfs::kName, "config");
  EXPECT_EQ(ReadAll(path)[pci_config::kCommand], 6);
  function.reset();
  EXPECT_EQ(ReadAll(path)[pci_config::kCommand], 2);
}

TEST_F(SysfsPciTest, HasNoInterrupts) {
  const auto function = Open();
  ASSERT_TRUE(function);
  const absl::Status enabled = function->EnableInterrupts(1);
  EXPECT_EQ(enabled.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(enabled.message(), "access=sysfs has no interrupts");
}

TEST_F(SysfsPciTest, HasAtMostAHugePageInOnePiece) {
  const auto function = Open();
  ASSERT_TRUE(function);
  EXPECT_THAT(function->Allocate(PhysicalRun::kHugePage + 1),
              HasStatusCode(absl::StatusCode::kResourceExhausted));
}

TEST_F(SysfsPciTest, RefusesAFunctionThatADriverHas) {
  fake_.Bind("mlx4_core");
  EXPECT_THAT(SysfsPci::Open(fake_.sysfs(), *fake_.sysfs().Read(FakeAddress())),
              HasStatusCode(absl::StatusCode::kFailedPrecondition));
}

class PageMapTest : public ::testing::Test {
 protected:
  // The page with number 1 has this entry.
  absl::StatusOr<uint64_t> Find(uint64_t entry) {
    const std::string path = directory_.path() + "/pagemap";
    const uint64_t entries[] = {0, entry};
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(entries), sizeof entries);
    const auto pages = PageMap::Open(path);
    if (!pages.ok()) return pages.status();
    return pages->Find(reinterpret_cast<const void*>(uint64_t{0x1000}));
  }

  testing::TempDirectory directory_;
};

TEST_F(PageMapTest, TellsWhereAPageIs) {
  const auto found = Find(uint64_t{1} << 63 | 0x12345);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, 0x12345000u);
}

TEST_F(PageMapTest, SaysThatLinuxHidesIt) {
  const auto found = Find(uint64_t{1} << 63);
  EXPECT_THAT(found, HasStatusCode(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr("CAP_SYS_ADMIN"));
}

TEST_F(PageMapTest, SaysThatAPageIsNotInMemory) {
  EXPECT_THAT(Find(0x12345), HasStatusCode(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace ibemu::hca
