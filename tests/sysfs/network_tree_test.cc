#include "sysfs/network_tree.h"

#include <optional>
#include <string>

#include "tests/sysfs/fixture.h"

namespace ibemu::sysfs {
namespace {

class NetworkTreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    machine_.AddAdapter(2);
    machine_.AddAdapter(1);
    view_ = *machine_.Show();
    facts_ = NetworkFacts{.address = "00:00:00:48:fe:80",
                          .broadcast = "00:ff:ff:ff:ff:12",
                          .pkey = 0x8001,
                          .carrier = true,
                          .rx_packets = 3,
                          .tx_bytes = 4000000000000};
    view_.devices[0].networks.push_back(
        {.name = "ib1", .port = 2, .facts = [this] { return facts_; }});
    tree_ = BuildTree(view_);
  }

  std::string Text(std::string_view path) {
    return Cat(*tree_, path).value_or("error");
  }
  std::string File(std::string_view name) {
    return Text("devices/pci1bed:00/1bed:00:00.0/net/ib1/" + std::string(name));
  }

  // What a link says; "" if it is not there.
  std::string LinkIn(std::string_view directory, const std::string& name) {
    const auto& children = Find(*tree_, directory)->children;
    const auto link = children.find(name);
    return link == children.end() ? "" : link->second->target;
  }

  Machine machine_;
  View view_;
  std::optional<NetworkFacts> facts_;
  std::unique_ptr<Entry> tree_;
};

TEST_F(NetworkTreeTest, AnInterfaceIsADatagramInterfaceOfItsAdapter) {
  EXPECT_EQ(File("type"), "32\n");
  EXPECT_EQ(File("address"), "00:00:00:48:fe:80\n");
  EXPECT_EQ(File("broadcast"), "00:ff:ff:ff:ff:12\n");
  EXPECT_EQ(File("mode"), "datagram\n");
  EXPECT_EQ(File("pkey"), "0x8001\n");
  EXPECT_EQ(File("dev_id"), "0x1\n");
  EXPECT_EQ(File("dev_port"), "1\n");
  EXPECT_EQ(LinkIn("class/net", "ib1"),
            "../../devices/pci1bed:00/1bed:00:00.0/net/ib1");
  EXPECT_EQ(LinkIn("class/net", "lo"), "../../devices/virtual/net/lo");
  EXPECT_EQ(LinkIn("devices/pci1bed:00/1bed:00:00.0/net/ib1", "device"),
            "../../../1bed:00:00.0");
}

TEST_F(NetworkTreeTest, AnInterfaceOfAFurtherPartitionNamesItsParent) {
  EXPECT_EQ(File("parent"), "error") << "it is the port's first one";
  view_.devices[0].networks.push_back(
      {.name = "ib1.8002", .parent = "ib1", .port = 2, .facts = [this] {
         return facts_;
       }});
  tree_ = BuildTree(view_);
  EXPECT_EQ(Text("devices/pci1bed:00/1bed:00:00.0/net/ib1.8002/parent"),
            "ib1\n");
}

TEST_F(NetworkTreeTest, ItShowsAChangeAtTheNextRead) {
  EXPECT_EQ(File("mtu"), "2044\n") << "until it is known";
  EXPECT_EQ(File("operstate"), "up\n");
  EXPECT_EQ(File("statistics/rx_packets"), "3\n");
  EXPECT_EQ(File("statistics/tx_bytes"), "4000000000000\n");
  facts_->mtu = 4092;
  facts_->carrier = false;
  EXPECT_EQ(File("mtu"), "4092\n");
  EXPECT_EQ(File("operstate"), "down\n");
  EXPECT_EQ(File("carrier"), "0\n");
  facts_.reset();
  EXPECT_EQ(Cat(*tree_, "devices/pci1bed:00/1bed:00:00.0/net/ib1/mtu").status(),
            absl::UnavailableError("the interface is gone"));
}

TEST_F(NetworkTreeTest, ItGoesWithItsAdapter) {
  RemoveDevice(*tree_, view_, view_.devices[0]);
  EXPECT_EQ(LinkIn("class/net", "ib1"), "");
  EXPECT_NE(LinkIn("class/net", "lo"), "");
}

TEST_F(NetworkTreeTest, WithoutInterfacesTheClassIsTheMachines) {
  view_.devices[0].networks.clear();
  EXPECT_EQ(Find(*BuildTree(view_), "class/net"), nullptr);
}

}  // namespace
}  // namespace ibemu::sysfs
