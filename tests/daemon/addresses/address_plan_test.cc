#include "daemon/addresses/address_plan.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "wire/ip_text.h"

namespace ibemu::daemon {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;

constexpr AdapterId kSwitch{0}, kFirst{1}, kSecond{3};

std::vector<std::string> Texts(const AddressPlan& plan,
                               AddressPlan::Owner owner) {
  return wire::NetworkTexts(plan.AddressesOf(owner));
}

TEST(AddressPlanTest, NumbersAdaptersInOrderAndTheirPortsByRails) {
  const AddressPlan plan =
      AddressPlan::Numbered(AddressPlan::kUsual, {kFirst, kSecond});
  EXPECT_THAT(Texts(plan, {kFirst, 1}),
              ElementsAre("198.18.0.1/16", "fd1b:e000:0:1::1/64"));
  EXPECT_THAT(Texts(plan, {kSecond, 1}),
              ElementsAre("198.18.0.2/16", "fd1b:e000:0:1::2/64"));
  EXPECT_THAT(Texts(plan, {kSecond, 2}),
              ElementsAre("198.19.0.2/16", "fd1b:e000:0:2::2/64"));
  EXPECT_THAT(Texts(plan, {kSecond, 3}), IsEmpty());
  EXPECT_THAT(Texts(plan, {kSwitch, 0}), IsEmpty());
  EXPECT_THAT(Texts(plan, {AdapterId{99}, 1}), IsEmpty());
}

TEST(AddressPlanTest, LinkLocalAddressesAreByNumberToo) {
  std::vector<AdapterId> adapters;
  for (uint32_t i = 0; i < 65'100; ++i) adapters.push_back(AdapterId{i});
  const AddressPlan plan = AddressPlan::Numbered(AddressPlan::kUsual, adapters);
  const auto text = [&plan](size_t adapter) {
    const auto own =
        plan.LinkLocalOf(AdapterId{static_cast<uint32_t>(adapter)});
    return own ? wire::NetworkText(*own) : "none";
  };
  EXPECT_EQ(text(0), "169.254.1.0/16");
  EXPECT_EQ(text(65'023), "169.254.254.255/16");
  EXPECT_EQ(text(65'024), "none") << "the last 256 are reserved";
  EXPECT_EQ(text(70'000), "none");
  EXPECT_FALSE(AddressPlan().LinkLocalOf(AdapterId{0}).has_value());
}

TEST(AddressPlanTest, HasRoomForTwoRailsOf65534) {
  std::vector<AdapterId> adapters;
  for (uint32_t i = 0; i < 65'535; ++i) adapters.push_back(AdapterId{i});
  const AddressPlan plan = AddressPlan::Numbered(AddressPlan::kUsual, adapters);
  EXPECT_THAT(Texts(plan, {adapters[65'533], 2}),
              ElementsAre("198.19.255.254/16", "fd1b:e000:0:2::fffe/64"));
  EXPECT_THAT(Texts(plan, {adapters[65'534], 1}),
              ElementsAre("fd1b:e000:0:1::ffff/64"))
      << "198.18.255.255 is for broadcasts";
}

TEST(AddressPlanTest, NumbersInWhateverNetwork) {
  const AddressPlan plan = AddressPlan::Numbered(
      {wire::IpAddress::Ipv4(0x0a000000), 8}, {kFirst, kSecond});
  EXPECT_EQ(Texts(plan, {kSecond, 1}).front(), "10.0.0.2/9");
  EXPECT_EQ(Texts(plan, {kSecond, 2}).front(), "10.128.0.2/9");
}

TEST(AddressPlanTest, NumbersFurtherPartitionsLikewise) {
  const AddressPlan plan =
      AddressPlan::Numbered(AddressPlan::kUsual, {kFirst, kSecond});
  EXPECT_THAT(Texts(plan, {kSecond, 1, 1}),
              ElementsAre("100.65.0.2/16", "fd1b:e000:1:1::2/64"));
  EXPECT_THAT(Texts(plan, {kFirst, 2, 31}),
              ElementsAre("100.127.0.1/16", "fd1b:e000:1f:2::1/64"));
  EXPECT_THAT(Texts(plan, {kFirst, 1, 0x1234}),
              ElementsAre("fd1b:e000:1234:1::1/64"));
  EXPECT_THAT(Texts(plan, {kFirst, 3, 1}), IsEmpty());
}

TEST(AddressPlanTest, KnowsWhoseANumberedAddressIs) {
  const AddressPlan plan =
      AddressPlan::Numbered(AddressPlan::kUsual, {kFirst, kSecond});
  for (const int port : {1, 2}) {
    for (const uint16_t partition : {0, 1, 31, 32, 0x7fff}) {
      const AddressPlan::Owner owner{kSecond, port, partition};
      for (const wire::IpNetwork& network : plan.AddressesOf(owner)) {
        EXPECT_EQ(plan.PortWith(network.address), owner)
            << NetworkText(network);
      }
    }
  }
  for (const char* nobodys :
       {"198.17.255.255/8", "198.18.0.0/8", "198.18.0.3/8", "198.20.0.1/8",
        "100.64.0.1/8", "100.65.0.3/8", "100.96.0.1/8", "100.128.0.1/8",
        "0.0.0.1/8", "255.255.255.255/8", "fd1b:e000:0:3::1/64",
        "fd1b:e000:0:1:0:1::1/64", "fd1b:e001:0:1::1/64",
        "fd1b:e000:8001:1::1/64", "::1/64"}) {
    EXPECT_FALSE(plan.PortWith(wire::ParseNetwork(nobodys)->address))
        << nobodys;
  }
}

TEST(AddressPlanTest, LeavesThePartitionsNetworkToWhoeverUsesItOtherwise) {
  AddressPlan plan =
      AddressPlan::Numbered({wire::IpAddress::Ipv4(0x64000000), 8}, {kFirst});
  EXPECT_THAT(Texts(plan, {kFirst, 1, 1}), ElementsAre("fd1b:e000:1:1::1/64"));
  EXPECT_EQ(plan.PortWith(wire::ParseNetwork("100.0.0.1/9")->address),
            (AddressPlan::Owner{kFirst, 1}));
  plan = AddressPlan::Numbered(AddressPlan::kUsual, {kFirst});
  ASSERT_TRUE(
      plan.Add({kSecond, 1}, *wire::ParseNetwork("100.99.0.1/16")).ok());
  EXPECT_THAT(Texts(plan, {kFirst, 1, 1}), ElementsAre("fd1b:e000:1:1::1/64"));
}

TEST(AddressPlanTest, APartitionsAddressesMayBeTold) {
  AddressPlan plan = AddressPlan::Numbered(AddressPlan::kUsual, {kFirst});
  const wire::IpNetwork network = {wire::IpAddress::Ipv4(0x0a000001), 8};
  ASSERT_TRUE(plan.Add({kFirst, 1, 5}, network).ok());
  EXPECT_THAT(Texts(plan, {kFirst, 1, 5}), ElementsAre("10.0.0.1/8"));
  EXPECT_EQ(plan.PortWith(network.address), (AddressPlan::Owner{kFirst, 1, 5}));
  EXPECT_EQ(Texts(plan, {kFirst, 1}).front(), "198.18.0.1/16");
}

TEST(AddressPlanTest, GivesAnAddressToOnePortOnly) {
  AddressPlan plan;
  const wire::IpNetwork network = {wire::IpAddress::Ipv4(0x0a000001), 8};
  EXPECT_TRUE(plan.Add({kFirst, 2}, *wire::ParseNetwork("fd00::1/64")).ok());
  EXPECT_TRUE(plan.Add({kFirst, 2}, network).ok());
  EXPECT_EQ(plan.Add({kSecond, 1}, network).code(),
            absl::StatusCode::kAlreadyExists);
  ASSERT_NE(plan.OwnerOf(network.address), nullptr);
  EXPECT_EQ(*plan.OwnerOf(network.address), (AddressPlan::Owner{kFirst, 2}));
  EXPECT_THAT(Texts(plan, {kFirst, 2}),
              ElementsAre("10.0.0.1/8", "fd00::1/64"));
}

TEST(AddressPlanTest, NamesHostsOnceAndNotAllOfMany) {
  const AddressPlan numbered =
      AddressPlan::Numbered(AddressPlan::kUsual, {kFirst, kSecond});
  EXPECT_EQ(numbered.Hosts(10).size(), 2u);
  ASSERT_EQ(numbered.Hosts(1).size(), 1u);
  EXPECT_EQ(AddressText(numbered.Hosts(1)[0].address), "198.18.0.1");
  AddressPlan told;
  ASSERT_TRUE(told.Add({kSecond, 1}, *wire::ParseNetwork("10.0.0.2/8")).ok());
  ASSERT_TRUE(
      told.Add({kSecond, 2}, {wire::IpAddress::Ipv4(0x0a000001), 8}).ok());
  ASSERT_TRUE(told.Add({kFirst, 1}, *wire::ParseNetwork("fd00::1/64")).ok());
  ASSERT_EQ(told.Hosts(10).size(), 1u);
  EXPECT_EQ(told.Hosts(10)[0].adapter, kSecond);
  ASSERT_TRUE(told.Add({kFirst, 1, 1}, *wire::ParseNetwork("fd01::1/64")).ok());
  EXPECT_EQ(told.Hosts(10).size(), 1u);
  ASSERT_EQ(told.Hosts(10, 1).size(), 1u) << "IPv6 alone will do there";
  EXPECT_EQ(told.Hosts(10, 1)[0].adapter, kFirst);
  ASSERT_EQ(numbered.Hosts(10, 32).size(), 2u);
  EXPECT_EQ(AddressText(numbered.Hosts(10, 32)[1].address),
            "fd1b:e000:20:1::2");
}

TEST(AddressTextTest, ReadsWhatItWrites) {
  for (const char* text :
       {"198.18.0.1/16", "fd1b:e000:0:1::1/64", "0.0.0.0/0", "::/128"}) {
    ASSERT_TRUE(wire::ParseNetwork(text)) << text;
    EXPECT_EQ(NetworkText(*wire::ParseNetwork(text)), text);
  }
}

TEST(AddressTextTest, RefusesWhatIsNoNetwork) {
  for (const char* text :
       {"", "10.0.0.1", "10.0.0.1/", "10.0.0.1/33", "10.0.0.1/-1",
        "10.0.0.1/8x", "10.0.0/8", "fd00::1/129", "node-1/8", "/8"}) {
    EXPECT_FALSE(wire::ParseNetwork(text)) << text;
  }
}

TEST(AddressPlanTest, KnowsHostsThatAreElsewhereByNameOnly) {
  AddressPlan plan;
  ASSERT_TRUE(
      plan.Add({kFirst, 1}, {wire::IpAddress::Ipv4(0x0a000001), 8}).ok());
  const wire::IpAddress address = wire::IpAddress::Ipv4(0x0a000002);
  const wire::IpNetwork link_local{wire::IpAddress::Ipv4(0xa9fe0101), 16};
  plan.AddElsewhere(address, link_local, "node-2");
  const auto hosts = plan.Hosts(10);
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].elsewhere, "");
  EXPECT_EQ(hosts[1].elsewhere, "node-2");
  EXPECT_EQ(hosts[1].link_local, link_local);
  EXPECT_EQ(hosts[1].address, address);
  EXPECT_EQ(plan.Hosts(1).size(), 1u);
  EXPECT_EQ(plan.Hosts(10, 1).size(), 0u);
  EXPECT_FALSE(plan.PortWith(address));
}

}  // namespace
}  // namespace ibemu::daemon
