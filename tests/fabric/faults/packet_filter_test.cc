#include "fabric/faults/packet_filter.h"

#include <gtest/gtest.h>

#include <memory>

#include "fabric/packet/transport.h"
#include "mad/attribute_names.h"

namespace ibemu::fabric {
namespace {

Packet Mad(mad::MgmtClass mgmt_class, mad::AttributeId attribute) {
  Packet packet;
  wire::Put<&mad::MadHeader::mgmt_class>(packet.mad, mgmt_class);
  wire::Put<&mad::MadHeader::attr_id>(packet.mad, attribute);
  return packet;
}

const Packet kDirectedNodeInfo =
    Mad(mad::MgmtClass::kSubnetDirectedRoute, mad::AttributeId::kNodeInfo);
const Packet kNodeInfo =
    Mad(mad::MgmtClass::kSubnetLidRouted, mad::AttributeId::kNodeInfo);
const Packet kNodeRecord =
    Mad(mad::MgmtClass::kSubnetAdministration, mad::AttributeId::kNodeRecord);
const Packet kReport =
    Mad(mad::MgmtClass::kSubnetAdministration, mad::AttributeId::kNotice);
const Packet kTrap =
    Mad(mad::MgmtClass::kSubnetLidRouted, mad::AttributeId::kNotice);

Packet Verbs() {
  Packet packet = kNodeInfo;
  packet.transport = std::make_shared<Transport>();
  return packet;
}

PacketFilter Filter(const char* name) {
  const auto filter = ParsePacketFilter(name);
  EXPECT_TRUE(filter.ok()) << filter.status();
  return filter.value_or(PacketFilter{});
}

TEST(PacketFilterTest, LetsEveryPacketThroughUnlessItHasAName) {
  EXPECT_TRUE(PacketFilter{}.Matches(kNodeInfo));
  EXPECT_TRUE(PacketFilter{}.Matches(Verbs()));
  EXPECT_EQ(NameOf(PacketFilter{}), "");
}

TEST(PacketFilterTest, AnAttributeIsThatOfItsClass) {
  const PacketFilter node_info = Filter("NodeInfo");
  EXPECT_TRUE(node_info.Matches(kNodeInfo));
  EXPECT_TRUE(node_info.Matches(kDirectedNodeInfo));
  EXPECT_FALSE(node_info.Matches(kNodeRecord));  // the same number
  EXPECT_FALSE(node_info.Matches(kTrap));
  EXPECT_FALSE(node_info.Matches(Verbs()));
}

TEST(PacketFilterTest, NoticesAreThoseOfEveryClass) {
  EXPECT_TRUE(Filter("Notice").Matches(kTrap));
  EXPECT_TRUE(Filter("Notice").Matches(kReport));
  EXPECT_FALSE(Filter("Notice").Matches(kNodeInfo));
}

TEST(PacketFilterTest, AClassHasAllItsAttributes) {
  EXPECT_TRUE(Filter("SA").Matches(kReport));
  EXPECT_TRUE(Filter("SA").Matches(kNodeRecord));
  EXPECT_FALSE(Filter("SA").Matches(kTrap));
  EXPECT_TRUE(Filter("SM").Matches(kTrap));
  EXPECT_TRUE(Filter("SM").Matches(kDirectedNodeInfo));
}

TEST(PacketFilterTest, VerbsAreWhatIsNoMad) {
  EXPECT_TRUE(Filter("verbs").Matches(Verbs()));
  EXPECT_FALSE(Filter("verbs").Matches(kNodeInfo));
  EXPECT_FALSE(Filter("MAD").Matches(Verbs()));
  EXPECT_TRUE(Filter("MAD").Matches(kNodeInfo));
}

TEST(PacketFilterTest, EveryNameIsReadAgainWhateverItsCase) {
  for (const mad::AttributeName& one : mad::AttributeNames()) {
    EXPECT_EQ(NameOf(Filter(std::string(one.name).c_str())), one.name);
  }
  for (const char* name : {"SM", "SA", "MAD", "verbs"}) {
    EXPECT_EQ(NameOf(Filter(name)), name);
  }
  EXPECT_EQ(NameOf(Filter("nodeinfo")), "NodeInfo");
}

TEST(PacketFilterTest, AMistypedNameIsGuessed) {
  EXPECT_EQ(ParsePacketFilter("NodeInfos").status().message(),
            "\"NodeInfos\" is no attribute, no class such as SA, and neither "
            "MAD nor verbs: did you mean \"NodeInfo\"?");
  EXPECT_EQ(ParsePacketFilter("").status().message(),
            "\"\" is no attribute, no class such as SA, and neither MAD nor "
            "verbs");
}

}  // namespace
}  // namespace ibemu::fabric
