#include "hca/remote/qemu_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ibemu::hca::remote {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char kProgram[] = "qemu-system-x86_64";

std::string ErrorOf(const std::vector<std::string>& command) {
  return std::string(PlugInto(command, 5, 7).status().message());
}

TEST(QemuCommand, AddsDeviceAndMemoryAndTestProtocol) {
  const auto command = PlugInto({kProgram, "-m", "512", "-smp", "1"}, 5, 7);
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_FALSE(command->has_iommu);
  EXPECT_THAT(
      command->arguments,
      ElementsAre(kProgram, "-m", "512", "-smp", "1", "-object",
                  "memory-backend-memfd,id=ibemu-memory,share=on,size=512M",
                  "-machine", "memory-backend=ibemu-memory", "-chardev",
                  "socket,id=ibemu-qtest,fd=7", "-object",
                  "qtest,id=ibemu-qtest-server,chardev=ibemu-qtest,log=none",
                  "-device", "x-pci-proxy-dev,id=ibemu-hca,fd=5,addr=10.0"));
}

TEST(QemuCommand, MemoryIsAsLargeAsTheGuests) {
  const auto size = [](const std::vector<std::string>& command) {
    return "memory-backend-memfd,id=ibemu-memory,share=on,size=" +
           command.back();
  };
  const std::vector<std::vector<std::string>> cases = {
      {kProgram, "-m", "1G", "1G"},
      {kProgram, "--m", "size=2048", "2048M"},
      {kProgram, "-m", "256k,slots=1", "256k"},
      {kProgram, "128M"},
  };
  for (std::vector<std::string> command : cases) {
    const std::string expected = size(command);
    command.pop_back();
    const auto result = PlugInto(command, 5, 7);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_THAT(result->arguments, Contains(expected));
  }
}

TEST(QemuCommand, RefusesASecondProcessorAndSaysWhy) {
  EXPECT_THAT(ErrorOf({kProgram, "-smp", "2"}), HasSubstr("use -smp 1"));
  EXPECT_THAT(ErrorOf({kProgram, "--smp", "cpus=4"}), HasSubstr("-smp cpus=4"));
  EXPECT_THAT(ErrorOf({kProgram, "-smp", "sockets=1,cores=2"}),
              HasSubstr("re-entrant"));
  EXPECT_EQ(ErrorOf({kProgram, "-smp", "cpus=1,maxcpus=1"}), "");
}

TEST(QemuCommand, AnIommuIsForAddressesAlone) {
  EXPECT_THAT(ErrorOf({kProgram, "-device", "intel-iommu"}),
              HasSubstr("intremap=off"));
  EXPECT_THAT(ErrorOf({kProgram, "-device", "intel-iommu,intremap=on"}),
              HasSubstr("intremap=off"));
  const auto command =
      PlugInto({kProgram, "-device", "intel-iommu,intremap=off"}, 5, 7);
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_TRUE(command->has_iommu);
}

TEST(QemuCommand, RefusesMemoryOfAnother) {
  EXPECT_THAT(ErrorOf({kProgram, "-M", "q35,memory-backend=m"}),
              HasSubstr("leave memory-backend away"));
}

TEST(QemuCommand, NeedsAProgram) {
  EXPECT_THAT(ErrorOf({}), HasSubstr("missing"));
}

}  // namespace
}  // namespace ibemu::hca::remote
