#include "cuse/fuse/tree_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "testing/fake_device.h"
#include "testing/virtual_timers.h"

namespace ibemu::cuse {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::IsNull,
    ::testing::NotNull;

// The nodes of two one-port adapters, in slots 0 and 1.
class TreeNodesTest : public ::testing::Test {
 protected:
  TreeNodes::NodePtr Walk(std::string_view path) const {
    TreeNodes::NodePtr node = nodes_.Find(TreeNodes::kRoot);
    while (node != nullptr && !path.empty()) {
      const size_t slash = std::min(path.find('/'), path.size());
      node = nodes_.Child(node->number, path.substr(0, slash));
      path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return node;
  }
  std::vector<std::string> List(std::string_view path) const {
    std::vector<std::string> names;
    for (const auto& child : Walk(path)->children) {
      if (child->listed()) names.push_back(child->name);
    }
    return names;
  }

  void Pull(int slot) {
    devices_[slot].Remove();
    PullOut(view_, slot);
    nodes_.Update(view_);
  }
  void Plug(int slot) {
    devices_[slot].Add();
    PlugIn(view_, slot, std::make_shared<mad::Host>(timers_, devices_[slot]));
    nodes_.Update(view_);
  }

  // Numbers of all nodes from `node` on.
  static void Count(const TreeNode& node, std::multiset<uint64_t>& numbers) {
    numbers.insert(node.number);
    for (const auto& child : node.children) Count(*child, numbers);
  }

  testing::VirtualTimers timers_;
  testing::FakeDevice devices_[2];
  sysfs::View view_ =
      *sysfs::MakeView({std::make_shared<mad::Host>(timers_, devices_[0]),
                        std::make_shared<mad::Host>(timers_, devices_[1])},
                       "ibemu%d", sysfs::Profile::kQib);
  TreeNodes nodes_{view_};
};

constexpr char kPciFunction[] = "sys/devices/pci1bed:00/1bed:00:00.0";
constexpr char kState[] =
    "sys/devices/pci1bed:00/1bed:00:00.0/infiniband/ibemu0/ports/1/state";

TEST_F(TreeNodesTest, FollowTheView) {
  Pull(0);
  EXPECT_THAT(List("dev"), ElementsAre("issm1", "umad1"));
  EXPECT_THAT(List("sys/class/infiniband"), ElementsAre("ibemu1"));
  EXPECT_THAT(List("sys/class/infiniband_mad"),
              ElementsAre("abi_version", "issm1", "umad1"));
  EXPECT_THAT(List("sys/devices/pci1bed:00"), ElementsAre("1bed:00:01.0"));
  EXPECT_THAT(List("sys/bus/pci/devices"), ElementsAre("1bed:00:01.0"));
  EXPECT_THAT(Walk(kState), IsNull());
  Pull(1);
  EXPECT_THAT(List("dev"), IsEmpty());
  Plug(0);
  EXPECT_THAT(List("dev"), ElementsAre("issm0", "umad0"));
  EXPECT_THAT(Walk(kState), NotNull());
  EXPECT_THAT(List("sys/bus/pci/devices"), ElementsAre("1bed:00:00.0"));
}

// What is listed can't be opened, what can be opened is not listed.
TEST_F(TreeNodesTest, AVerbsDeviceHasTwoFiles) {
  view_.devices[1].uverbs = 4;
  const TreeNodes nodes(view_);
  const uint64_t dev = nodes.Child(TreeNodes::kRoot, "dev")->number;
  const TreeNodes::NodePtr shown = nodes.Child(dev, "uverbs4");
  ASSERT_THAT(shown, NotNull());
  EXPECT_TRUE(shown->listed());
  EXPECT_EQ(shown->kind, TreeNode::Kind::kCharacter);
  EXPECT_EQ(shown->device_number,
            (sysfs::DeviceNumber{sysfs::kMajor, sysfs::kFirstUverbs + 4}));
  const TreeNodes::NodePtr file = nodes.Child(dev, ".uverbs4");
  ASSERT_THAT(file, NotNull());
  EXPECT_FALSE(file->listed());
  EXPECT_EQ(file->kind, TreeNode::Kind::kDevice);
}

TEST_F(TreeNodesTest, RdmaCmIsOneForAllAdaptersAndStaysWithoutThem) {
  view_.rdma_cm = true;
  TreeNodes nodes(view_);
  const uint64_t dev = nodes.Child(TreeNodes::kRoot, "dev")->number;
  const TreeNodes::NodePtr shown = nodes.Child(dev, "rdma_cm");
  ASSERT_THAT(shown, NotNull());
  EXPECT_TRUE(shown->listed());
  EXPECT_EQ(shown->kind, TreeNode::Kind::kCharacter);
  EXPECT_EQ(shown->device_number, sysfs::kRdmaCm);
  const TreeNodes::NodePtr file = nodes.Child(dev, ".rdma_cm");
  ASSERT_THAT(file, NotNull());
  EXPECT_FALSE(file->listed());
  PullOut(view_, 0);
  PullOut(view_, 1);
  nodes.Update(view_);
  EXPECT_EQ(nodes.Child(dev, "rdma_cm"), shown);
}

TEST_F(TreeNodesTest, OtherDevicesKeepTheirNodes) {
  const TreeNodes::NodePtr file = Walk("dev/umad1");
  const TreeNodes::NodePtr function =
      Walk("sys/devices/pci1bed:00/1bed:00:01.0");
  Pull(0);
  Plug(0);
  EXPECT_EQ(Walk("dev/umad1"), file);
  EXPECT_EQ(Walk("sys/devices/pci1bed:00/1bed:00:01.0"), function);
  EXPECT_FALSE(file->gone);
}

TEST_F(TreeNodesTest, NoNumberIsUsedTwice) {
  const uint64_t umad = Walk("dev/umad0")->number;
  const uint64_t state = Walk(kState)->number;
  Pull(0);
  Plug(0);
  EXPECT_NE(Walk("dev/umad0")->number, umad);
  EXPECT_NE(Walk(kState)->number, state);
  std::multiset<uint64_t> numbers;
  Count(*nodes_.Find(TreeNodes::kRoot), numbers);
  for (const uint64_t number : numbers) EXPECT_EQ(numbers.count(number), 1u);
}

TEST_F(TreeNodesTest, TheLinksOfTheBusKeepTheirNodes) {
  const TreeNodes::NodePtr link = Walk("sys/bus/pci/devices/1bed:00:00.0");
  Pull(0);
  EXPECT_EQ(Walk("sys/bus/pci/devices/1bed:00:00.0"), link);
  Plug(0);
  EXPECT_EQ(Walk("sys/bus/pci/devices/1bed:00:00.0"), link);
}

TEST_F(TreeNodesTest, WhatTheKernelKnowsIsThereUntilItForgets) {
  const uint64_t umad = nodes_.Remember(Walk("dev/umad0"));
  const uint64_t state = nodes_.Remember(Walk(kState));
  nodes_.Remember(Walk(kState));
  const uint64_t unknown = Walk(kPciFunction)->number;
  Pull(0);
  EXPECT_THAT(nodes_.Find(unknown), IsNull());
  for (const uint64_t id : {umad, state}) {
    ASSERT_THAT(nodes_.Find(id), NotNull());
    EXPECT_TRUE(nodes_.Find(id)->gone);
  }
  nodes_.Forget(umad, 1);
  EXPECT_THAT(nodes_.Find(umad), IsNull());
  nodes_.Forget(state, 1);
  EXPECT_THAT(nodes_.Find(state), NotNull());
  nodes_.Forget(state, 1);
  EXPECT_THAT(nodes_.Find(state), IsNull());
  nodes_.Forget(state, 1);  // a forged one is harmless
}

TEST_F(TreeNodesTest, ADirectoryThatIsGoneIsEmpty) {
  const uint64_t function = nodes_.Remember(Walk(kPciFunction));
  Pull(0);
  EXPECT_THAT(nodes_.Find(function)->children, IsEmpty());
  EXPECT_THAT(nodes_.Child(function, "vendor"), IsNull());
}

TEST_F(TreeNodesTest, ForgettingLeavesWhatIsThere) {
  const uint64_t state = nodes_.Remember(Walk(kState));
  nodes_.Forget(state, 1);
  EXPECT_THAT(nodes_.Find(state), NotNull());
  EXPECT_THAT(Walk(kState), NotNull());
}

TEST_F(TreeNodesTest, NobodyHoldsTheHostOfADeviceThatIsGone) {
  const std::weak_ptr<mad::Host> host = view_.devices[0].host;
  const uint64_t umad = nodes_.Remember(Walk("dev/umad0"));
  const uint64_t state = nodes_.Remember(Walk(kState));
  Pull(0);
  EXPECT_FALSE(host.expired());
  nodes_.Forget(umad, 1);
  nodes_.Forget(state, 1);
  EXPECT_TRUE(host.expired());
}

}  // namespace
}  // namespace ibemu::cuse
