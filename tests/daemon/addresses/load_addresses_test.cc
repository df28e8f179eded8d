#include "daemon/addresses/load_addresses.h"

#include <fstream>
#include <string>
#include <vector>

#include "daemon/adapters/fabric_adapters.h"
#include "daemon/addresses/address_file.h"
#include "fabric/fabric.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/temp_directory.h"
#include "testing/virtual_timers.h"
#include "topology/formats/load_topology.h"
#include "wire/ip_text.h"

namespace ibemu::daemon {
namespace {

using ::testing::HasSubstr, ::testing::StartsWith;

// Three hosts on a switch.
class LoadAddressesTest : public ::testing::Test {
 protected:
  absl::StatusOr<AddressPlan> Parse(std::string_view text) {
    return ParseAddressFile(text, "a.txt", adapters_);
  }
  std::string Mistake(std::string_view text) {
    return std::string(Parse(text).status().message());
  }
  std::string MistakeOfChoice(const std::string& choice) {
    return std::string(
        LoadAddresses(choice, adapters_, numbered_).status().message());
  }
  AdapterId Adapter(std::string_view name) { return *adapters_.Find(name); }

  testing::VirtualTimers timers_;
  fabric::Fabric fabric_{
      topology::LoadTopology("single-switch:hosts=3").value(), timers_,
      fabric::FabricOptions{}};
  FabricAdapters adapters_{fabric_};
  std::vector<AdapterId> numbered_ = {Adapter("node-1"), Adapter("node-2"),
                                      Adapter("node-3")};
};

TEST_F(LoadAddressesTest, AFileNamesPortsAndTheirAddresses) {
  const auto plan = Parse(
      "# mine\n"
      "node-1 10.0.0.1/8 fd00::1/64  # the first\n"
      "\n"
      "\t\"node-2\"/1 10.0.0.2/8\r\n"
      "node-3/1\t10.0.0.3/8\n"
      "node-1:8001 10.1.0.1/16\n"
      "\"node-2\":0x8001 10.1.0.2/16\n"
      "node-3/1:1 10.1.0.3/16");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->AddressesOf({Adapter("node-1"), 1}).size(), 2u);
  EXPECT_EQ(NetworkText(plan->AddressesOf({Adapter("node-2"), 1}).front()),
            "10.0.0.2/8");
  EXPECT_EQ(NetworkText(plan->AddressesOf({Adapter("node-3"), 1}).front()),
            "10.0.0.3/8");
  for (const int n : {1, 2, 3}) {
    const auto its =
        plan->AddressesOf({Adapter(absl::StrCat("node-", n)), 1, 1});
    ASSERT_EQ(its.size(), 1u);
    EXPECT_EQ(NetworkText(its.front()), absl::StrCat("10.1.0.", n, "/16"));
  }
}

TEST_F(LoadAddressesTest, AnEmptyFileIsAPlanWithoutAddresses) {
  ASSERT_TRUE(Parse("").ok());
  EXPECT_TRUE(Parse("")->AddressesOf({Adapter("node-1"), 1}).empty());
}

TEST_F(LoadAddressesTest, MistakesNameThePlaceTheThingAndTheRule) {
  EXPECT_EQ(Mistake("\nnod-1 10.0.0.1/8"),
            "a.txt:2: no node \"nod-1\": did you mean \"node-1\"?");
  EXPECT_EQ(Mistake("node-1/2 10.0.0.1/8"),
            "a.txt:1: node-1/2: this adapter has ports 1 to 1");
  EXPECT_EQ(Mistake("node-1:8000 10.0.0.1/8"),
            "a.txt:1: \"8000\" is no P_Key of a partition: write four "
            "hexadecimal digits, as in 8001");
  EXPECT_EQ(Mistake("node-1/2:8001 10.0.0.1/8"),
            "a.txt:1: node-1/2:8001: this adapter has ports 1 to 1");
  EXPECT_THAT(Mistake("switch-1/1 10.0.0.1/8"),
              HasSubstr("only channel adapters have addresses"));
  EXPECT_EQ(Mistake("node-1"),
            "a.txt:1: node-1 has no address: write \"node-1 10.1.0.1/16\"");
  EXPECT_THAT(Mistake("\"node-1 10.0.0.1/8"), HasSubstr("has no end"));
}

TEST_F(LoadAddressesTest, AnAddressIsOneThatAPortMayHave) {
  EXPECT_EQ(Mistake("node-1 10.0.0.1"),
            "a.txt:1: 10.0.0.1: an address has a prefix: \"10.1.0.1/16\" or "
            "\"fd00::1/64\"");
  EXPECT_THAT(Mistake("node-1 10.0.0.300/8"), HasSubstr("has a prefix"));
  EXPECT_EQ(Mistake("node-1 0.0.0.0/8"),
            "a.txt:1: 0.0.0.0 is the address of nobody: no port may have it");
  EXPECT_THAT(Mistake("node-1 127.0.0.1/8"), HasSubstr("leads back"));
  EXPECT_THAT(Mistake("node-1 ff02::1/64"), HasSubstr("is a group's"));
  EXPECT_THAT(Mistake("node-1 10.0.0.0/8"), HasSubstr("the network itself"));
  EXPECT_THAT(Mistake("node-1 10.255.255.255/8"), HasSubstr("broadcasts"));
}

TEST_F(LoadAddressesTest, AnAddressIsOfOnePort) {
  EXPECT_EQ(Mistake("node-1 10.0.0.1/8\n\nnode-2 10.0.0.1/16"),
            "a.txt:3: 10.0.0.1 is node-1's already (line 1): an address is of "
            "one port");
}

TEST_F(LoadAddressesTest, ANetworkNumbersTheAdapters) {
  const auto plan = LoadAddresses("10.0.0.0/8", adapters_, numbered_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(NetworkText(plan->AddressesOf({Adapter("node-3"), 1}).front()),
            "10.0.0.3/9");
}

TEST_F(LoadAddressesTest, ANetworkHasRoomForAllAndNoBitsTooMany) {
  EXPECT_THAT(MistakeOfChoice("10.0.0.0/29"),
              HasSubstr("3 channel adapters do not fit into half of it (2"));
  EXPECT_THAT(MistakeOfChoice("10.0.0.0/32"), HasSubstr("(0 addresses)"));
  EXPECT_EQ(MistakeOfChoice("10.0.0.1/8"),
            "--addresses=10.0.0.1/8: a network has no bits beyond its prefix: "
            "10.0.0.0/8");
  EXPECT_THAT(MistakeOfChoice("fd00::/48"), HasSubstr("is of IPv4"));
  numbered_.clear();
  EXPECT_THAT(MistakeOfChoice("10.0.0.0/8"), HasSubstr("no subnet to number"));
}

TEST_F(LoadAddressesTest, WhatIsNeitherIsSaidToBe) {
  EXPECT_THAT(MistakeOfChoice("/nowhere/a.txt"),
              StartsWith("--addresses=/nowhere/a.txt: this is neither a file"));
}

class ReplaceTest : public LoadAddressesTest {
 protected:
  absl::Status ReplaceBy(uint32_t node, std::string_view network) {
    return Replace({{.node = topology::NodeId{node},
                     .port = 1,
                     .networks = {*wire::ParseNetwork(network)}}},
                   adapters_, plan_);
  }

  AddressPlan plan_ = AddressPlan::Numbered(AddressPlan::kUsual, numbered_);
};

TEST_F(ReplaceTest, PartitionsLeaveTheirNetworkToATopology) {
  ASSERT_TRUE(ReplaceBy(1, "100.65.0.3/16").ok());
  EXPECT_EQ(NetworkText(plan_.AddressesOf({Adapter("node-3"), 1, 1}).front()),
            "fd1b:e000:1:1::3/64");
  EXPECT_THAT(ReplaceBy(1, "fd1b:e000:1:1::3/64").message(),
              HasSubstr("by number it is node-3/1:8001's"));
}

TEST_F(ReplaceTest, ATopologysAddressStandsForAllThatThePlanHasForThePort) {
  const AdapterId second = Adapter("node-2");
  ASSERT_TRUE(ReplaceBy(1, "10.0.0.2/8").ok());
  ASSERT_EQ(plan_.AddressesOf({second, 1}).size(), 1u);
  EXPECT_EQ(NetworkText(plan_.AddressesOf({second, 1})[0]), "10.0.0.2/8");
  EXPECT_EQ(plan_.PortWith(wire::ParseNetwork("10.0.0.2/8")->address),
            (AddressPlan::Owner{second, 1}));
  EXPECT_EQ(plan_.PortWith(wire::ParseNetwork("198.18.0.2/16")->address),
            std::nullopt);
  EXPECT_EQ(plan_.PortWith(wire::ParseNetwork("198.18.0.3/16")->address),
            (AddressPlan::Owner{Adapter("node-3"), 1}));
  const std::vector<AddressPlan::HostAddress> hosts = plan_.Hosts(10);
  ASSERT_EQ(hosts.size(), 3u) << "each once";
  EXPECT_EQ(AddressText(hosts[1].address), "10.0.0.2");
}

TEST_F(ReplaceTest, AnAddressOfThePlansIsGivenToNoOtherPort) {
  EXPECT_EQ(ReplaceBy(1, "198.18.0.3/16").message(),
            "the topology gives 198.18.0.3 to node-2/1, but by number it is "
            "node-3/1's: give that port another address, too");
  EXPECT_TRUE(ReplaceBy(1, "198.18.0.2/16").ok()) << "it has it anyway";
}

}  // namespace
}  // namespace ibemu::daemon
