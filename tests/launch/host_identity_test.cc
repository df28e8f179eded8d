#include "launch/host_identity.h"

#include <gtest/gtest.h>

#include <string>

namespace ibemu::launch {
namespace {

TEST(HostNameTest, IsTheFirstWordAsFarAsItIsAName) {
  EXPECT_EQ(HostName("node-1"), "node-1");
  EXPECT_EQ(HostName("srv9.example.org mlx5_0"), "srv9.example.org");
  EXPECT_EQ(HostName("  r1/n2_a "), "r1-n2-a");
  EXPECT_EQ(HostName("--x--"), "x");
  EXPECT_EQ(HostName(std::string(80, 'a')), std::string(63, 'a'));
  EXPECT_EQ(HostName(std::string(62, 'a') + ".b"), std::string(62, 'a'));
  EXPECT_EQ(HostName(""), "");
  EXPECT_EQ(HostName(" - "), "");
}

TEST(BootIdTest, BelongsToAHostOfAFabricOnAMachine) {
  const std::string id = BootId("m", "f", "n");
  EXPECT_EQ(BootId("m", "f", "n"), id);
  for (const std::string& other :
       {BootId("x", "f", "n"), BootId("m", "x", "n"), BootId("m", "f", "x")}) {
    EXPECT_NE(other, id);
  }
}

TEST(BootIdTest, LooksLikeTheKernels) {
  for (const char* node : {"0x1", "0x2", "0x3", "0x4"}) {
    const std::string id = BootId("m", "f", node);
    ASSERT_EQ(id.size(), 36u);
    EXPECT_EQ(id[14], '4');
    EXPECT_NE(std::string("89ab").find(id[19]), std::string::npos) << id;
    for (const size_t at : {8, 13, 18, 23}) EXPECT_EQ(id[at], '-');
  }
}

TEST(HostsTest, GetTheNameOnce) {
  EXPECT_EQ(AddToHosts("127.0.0.1 localhost\n", {.name = "node-1"}),
            "127.0.0.1 localhost\n127.0.1.1\tnode-1\n");
  EXPECT_EQ(AddToHosts("127.0.0.1 localhost", {.name = "a"}),
            "127.0.0.1 localhost\n127.0.1.1\ta\n");
  EXPECT_EQ(AddToHosts("", {.name = "a"}), "127.0.1.1\ta\n");
  const std::string named = "10.0.0.1\tnode-10 node-1 # here\n";
  EXPECT_EQ(AddToHosts(named, {.name = "node-1"}), named);
  const std::string comment = "#10.0.0.1 a\n10.0.0.2 b # a\n";
  EXPECT_EQ(AddToHosts(comment, {.name = "a"}), comment + "127.0.1.1\ta\n");
}

TEST(HostsTest, OthersAreKnownByTheirAddressesUnlessTheNameIsTaken) {
  EXPECT_EQ(AddToHosts("127.0.0.1 localhost node-3\n",
                       {.name = "node-1",
                        .others = {{"198.18.0.1", "node-1"},
                                   {"198.18.0.2", "node-2"},
                                   {"198.18.0.3", "node-3"},
                                   {"198.18.0.4", ""},
                                   {"198.18.0.5", "node-2"}}}),
            "127.0.0.1 localhost node-3\n127.0.1.1\tnode-1\n"
            "198.18.0.2\tnode-2\n");
}

TEST(HostsTest, OthersAreKnownToTheMachineToo) {
  EXPECT_EQ(AddToHosts("127.0.0.1 localhost\n",
                       {.name = "", .others = {{"198.18.0.1", "node-1"}}}),
            "127.0.0.1 localhost\n198.18.0.1\tnode-1\n");
}

TEST(HostsTest, AHostWithANetworkIsKnownByItsAddressThere) {
  EXPECT_EQ(AddToHosts("127.0.0.1 localhost\n",
                       {.name = "node-1",
                        .address = "198.18.0.1",
                        .others = {{"198.18.0.1", "node-1"}}}),
            "127.0.0.1 localhost\n198.18.0.1\tnode-1\n");
}

}  // namespace
}  // namespace ibemu::launch
