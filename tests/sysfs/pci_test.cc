#include "sysfs/pci.h"

#include "tests/sysfs/fixture.h"

namespace ibemu::sysfs {
namespace {

class PciTest : public ::testing::Test {
 protected:
  PciTest() {
    machine_.AddAdapter(1);
    machine_.AddAdapter(1);
    view_ = *machine_.Show();
    view_.cpu_count = 2;
    tree_ = BuildTree(view_);
  }
  std::string Text(std::string_view name) {
    return Cat(*tree_, "bus/pci/devices/1bed:00:01.0/" + std::string(name))
        .value_or("error");
  }
  std::string Cpus(int count, const char* name) {
    view_.cpu_count = count;
    tree_ = BuildTree(view_);
    return Text(name);
  }

  Machine machine_;
  View view_;
  std::unique_ptr<Entry> tree_;
};

unsigned Config(const std::string& config, size_t offset, int bytes) {
  unsigned value = 0;
  for (int i = bytes - 1; i >= 0; --i) {
    value = value << 8 | static_cast<uint8_t>(config[offset + i]);
  }
  return value;
}

TEST_F(PciTest, GivesEveryDeviceItsOwnFunction) {
  EXPECT_EQ(PciAddress(0), "1bed:00:00.0");
  EXPECT_EQ(PciAddress(31), "1bed:00:1f.0");
  EXPECT_EQ(Find(*tree_, "class/infiniband/ibemu0/device"),
            Find(*tree_, "devices/pci1bed:00/1bed:00:00.0"));
  EXPECT_EQ(Find(*tree_, "class/infiniband/ibemu1/device"),
            Find(*tree_, "bus/pci/devices/1bed:00:01.0"));
}

TEST_F(PciTest, IsNearToAllProcessors) {
  EXPECT_EQ(Text("local_cpus"), "3\n");
  EXPECT_EQ(Text("local_cpulist"), "0-1\n");
  EXPECT_EQ(Cpus(1, "local_cpus"), "1\n");
  EXPECT_EQ(Cpus(1, "local_cpulist"), "0\n");
  EXPECT_EQ(Cpus(6, "local_cpus"), "3f\n");
  EXPECT_EQ(Cpus(32, "local_cpus"), "ffffffff\n");
  EXPECT_EQ(Cpus(33, "local_cpus"), "1,ffffffff\n");
  EXPECT_EQ(Cpus(96, "local_cpus"), "ffffffff,ffffffff,ffffffff\n");
  EXPECT_EQ(Cpus(96, "local_cpulist"), "0-95\n");
}

TEST_F(PciTest, HasAConfigurationSpaceOf256Bytes) {
  const Entry* entry = Find(*tree_, "bus/pci/devices/1bed:00:01.0/config");
  EXPECT_EQ(entry->size, 256);
  const std::string config = entry->read().value();
  ASSERT_EQ(config.size(), 256u);
  EXPECT_EQ(Config(config, 0x00, 4), 0x73221077u);
  EXPECT_EQ(Config(config, 0x08, 4), 0x0c060002u);
  EXPECT_EQ(Config(config, 0x0e, 1), 0u);  // header type: a function
  EXPECT_EQ(Config(config, 0x10, 4), 0x00400004u);
  EXPECT_EQ(Config(config, 0x14, 4), 0x003f0000u);
  EXPECT_EQ(Config(config, 0x2c, 4), 0x73221077u);
}

TEST_F(PciTest, HasAChainOfCapabilitiesThatEndsWithPciExpress) {
  const std::string config = PciConfig(FactsOf(Profile::kCx7), 0);
  EXPECT_NE(Config(config, 0x06, 2) & 0x10, 0u);
  const unsigned power = Config(config, 0x34, 1);
  EXPECT_EQ(Config(config, power, 1), 0x01u);
  const unsigned express = Config(config, power + 1, 1);
  EXPECT_EQ(Config(config, express, 1), 0x10u);
  EXPECT_EQ(Config(config, express + 1, 1), 0u);
  // Link capabilities, status, speeds: 32 GT/s, 16 lanes.
  EXPECT_EQ(Config(config, express + 0x0c, 4) & 0x3ff, 16u << 4 | 5);
  EXPECT_EQ(Config(config, express + 0x12, 2) & 0x3ff, 16u << 4 | 5);
  EXPECT_EQ(Config(config, express + 0x2c, 1), 0x3eu);
}

}  // namespace
}  // namespace ibemu::sysfs
