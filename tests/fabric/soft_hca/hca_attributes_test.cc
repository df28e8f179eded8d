#include "fabric/soft_hca/hca_attributes.h"

#include <endian.h>
#include <gtest/gtest.h>

#include <memory>

#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using testing::Lab, testing::Chain;

class HcaAttributesTest : public ::testing::Test {
 protected:
  Lab lab_{Chain(1), Lab::kStatically};
  verbs::Provider& hca_ = lab_.Provider(1);
};

TEST_F(HcaAttributesTest, SaysWhoTheDeviceIsAsSubnetManagementDoes) {
  const verbs::DeviceAttributes device = hca_.QueryDevice();
  EXPECT_EQ(be64toh(device.node_guid), 0x1000u);
  EXPECT_EQ(device.phys_port_cnt, 1);
  EXPECT_EQ(device.atomic_cap, 1u) << "atomic among its own";
  EXPECT_EQ(device.max_pkeys, kPKeyTableEntries);
  EXPECT_GT(device.max_qp, 10000u);
}

TEST(HcaAttributesOfTest, SaysTheFirmwareOfTheLabelAsNumbers) {
  const auto firmware = [](const char* text) {
    Node node;
    mad::DeviceLabel label;
    label.firmware = text;
    node.label = std::make_shared<const mad::DeviceLabel>(label);
    return HcaAttributesOf(node, NodePort()).fw_ver;
  };
  EXPECT_EQ(firmware("16.35.4030"), 0x0010'0023'0fbeu);
  for (const char* other : {"", "new", "1.2", "1.2.3.4", "1.2.70000"}) {
    EXPECT_EQ(firmware(other), 0u);
  }
}

TEST_F(HcaAttributesTest, SaysTheSizesOfThePort) {
  const auto port = hca_.QueryPort(1);
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_EQ(port->gid_tbl_len, static_cast<uint32_t>(kGuidTableEntries));
  EXPECT_EQ(port->active_mtu, lab_.PortOf(lab_.Host(1), 1).info.neighbor_mtu);
}

// enum ib_port_speed, drivers' own numbers.
TEST_F(HcaAttributesTest, NamesTheSpeedsAsLinuxDoes) {
  mad::PortInfo& info = lab_.PortOf(lab_.Host(1), 1).info;
  const auto speed = [&](uint8_t basic, uint8_t ext, uint8_t ext2) {
    info.link_speed_active = basic;
    info.link_speed_ext_active = ext;
    info.link_speed_ext_active2 = ext2;
    return hca_.QueryPort(1)->active_speed;
  };
  EXPECT_EQ(speed(1, 0, 0), 1);    // SDR
  EXPECT_EQ(speed(4, 0, 0), 4);    // QDR
  EXPECT_EQ(speed(4, 1, 0), 16);   // FDR
  EXPECT_EQ(speed(4, 2, 0), 32);   // EDR
  EXPECT_EQ(speed(4, 4, 0), 64);   // HDR
  EXPECT_EQ(speed(4, 8, 0), 128);  // NDR
  EXPECT_EQ(speed(4, 0, 1), 128);  // XDR has no number of eight bits
}

}  // namespace
}  // namespace ibemu::fabric
