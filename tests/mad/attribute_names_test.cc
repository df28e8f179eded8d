#include "mad/attribute_names.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace ibemu::mad {
namespace {

TEST(AttributeNamesTest, NoNameStandsForTwoThings) {
  std::set<std::string_view> names;
  for (const AttributeName& one : AttributeNames()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
  }
  for (const ClassName& one : ClassNames()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
  }
}

TEST(AttributeNamesTest, ANumberMeansSomethingElseInEachClass) {
  const AttributeId number{0x0011};
  EXPECT_EQ(NameOf(MgmtClass::kSubnetLidRouted, number), "NodeInfo");
  EXPECT_EQ(NameOf(MgmtClass::kSubnetDirectedRoute, number), "NodeInfo");
  EXPECT_EQ(NameOf(MgmtClass::kSubnetAdministration, number), "NodeRecord");
  EXPECT_EQ(NameOf(MgmtClass::kPerformance, number), "PortSamplesResult");
  EXPECT_EQ(NameOf(MgmtClass::kCommunication, number), "MRA");
  EXPECT_EQ(NameOf(MgmtClass::kDevice, number), "");
}

TEST(AttributeNamesTest, EveryClassHasTheCommonOnes) {
  EXPECT_EQ(NameOf(MgmtClass::kDevice, AttributeId::kNotice), "Notice");
  EXPECT_EQ(NameOf(MgmtClass::kSubnetDirectedRoute, AttributeId::kNotice),
            "Notice");
}

TEST(AttributeNamesTest, BothKindsOfSmpsAreOneClass) {
  EXPECT_EQ(NameOf(MgmtClass::kSubnetDirectedRoute), "SM");
  EXPECT_EQ(NameOf(MgmtClass::kSubnetLidRouted), "SM");
  EXPECT_EQ(NameOf(MgmtClass{0x4f}), "");
}

TEST(AttributeNamesTest, EachCodeThatRmppBreaksOffWithHasAName) {
  EXPECT_EQ(NameOf(RmppStatus::kResourcesExhausted), "Resources Exhausted");
  for (int code = 118; code <= 127; ++code) {
    EXPECT_NE(NameOf(RmppStatus(code)), "") << code;
  }
  EXPECT_EQ(NameOf(RmppStatus{2}), "");
}

}  // namespace
}  // namespace ibemu::mad
