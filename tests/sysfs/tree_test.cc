#include "sysfs/tree.h"

#include "tests/sysfs/fixture.h"

namespace ibemu::sysfs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsNull;
using ::testing::NotNull;

// A one-port adapter with everything set, seen through its tree.
class TreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    mad::PortInfo& info = port().info;
    info.port_state = mad::PortState::kActive;
    info.port_physical_state = mad::PortPhysicalState::kLinkUp;
    info.lid = wire::Lid{0x1f};
    info.lmc = 3;
    info.master_sm_lid = wire::Lid{0x2};
    info.master_sm_sl = 5;
    info.capability_mask = 0x0259e848;
    info.link_width_active = mad::link_width::k4x;
    info.link_speed_active = mad::link_speed::kQdr;
    info.link_speed_ext_active = mad::link_speed_ext::kNdr;
    Rebuild(Profile::kQib);
  }

  void Rebuild(Profile profile) {
    view_ = *machine_.Show("ibemu%d", profile);
    tree_ = BuildTree(view_);
  }

  FakePort& port() { return device_.port(1); }
  std::string File(std::string_view name) {
    return Text("class/infiniband/ibemu0/" + std::string(name));
  }
  std::string Text(std::string_view path) {
    return Cat(*tree_, path).value_or("error");
  }

  Machine machine_;
  FakeDevice& device_ = machine_.AddAdapter(1);
  View view_;
  std::unique_ptr<Entry> tree_;
};

TEST_F(TreeTest, SaysWhatTheDeviceIs) {
  EXPECT_EQ(File("node_type"), "1: CA\n");
  EXPECT_EQ(File("node_guid"), "0000:0000:0000:1000\n");
  EXPECT_EQ(File("sys_image_guid"), "0000:0000:0000:1fff\n");
  EXPECT_EQ(File("node_desc"), "fake device\n");
  EXPECT_EQ(File("fw_ver"), "1.11.0\n");
  EXPECT_EQ(File("hw_rev"), "2\n");
  EXPECT_EQ(File("hca_type"), "InfiniPath_QLE7340\n");
  EXPECT_EQ(File("board_id"), "InfiniPath_QLE7340\n");
  EXPECT_EQ(File("uevent"), "NAME=ibemu0\n");
}

TEST_F(TreeTest, SaysWhatAConnectX7Is) {
  Rebuild(Profile::kCx7);
  EXPECT_EQ(File("fw_ver"), "28.39.2048\n");
  EXPECT_EQ(File("hw_rev"), "0\n");
  EXPECT_EQ(File("hca_type"), "MT4129\n");
  EXPECT_EQ(File("board_id"), "MT_0000000838\n");
  EXPECT_EQ(File("device/vendor"), "0x15b3\n");
  EXPECT_EQ(File("device/device"), "0x1021\n");
  EXPECT_EQ(File("device/class"), "0x020700\n");
  EXPECT_EQ(File("device/modalias"),
            "pci:v000015B3d00001021sv000015B3sd00000041bc02sc07i00\n");
  EXPECT_EQ(File("device/current_link_speed"), "32.0 GT/s PCIe\n");
  EXPECT_EQ(File("device/current_link_width"), "16\n");
}

TEST_F(TreeTest, SaysHowThePortIs) {
  EXPECT_EQ(File("ports/1/state"), "4: ACTIVE\n");
  EXPECT_EQ(File("ports/1/phys_state"), "5: LinkUp\n");
  EXPECT_EQ(File("ports/1/rate"), "400 Gb/sec (4X NDR)\n");
  EXPECT_EQ(File("ports/1/lid"), "0x1f\n");
  EXPECT_EQ(File("ports/1/lid_mask_count"), "3\n");
  EXPECT_EQ(File("ports/1/sm_lid"), "0x2\n");
  EXPECT_EQ(File("ports/1/sm_sl"), "5\n");
  EXPECT_EQ(File("ports/1/cap_mask"), "0x0259e848\n");
  EXPECT_EQ(File("ports/1/link_layer"), "InfiniBand\n");
}

TEST_F(TreeTest, ShowsAChangeAtTheNextRead) {
  port().info.port_state = mad::PortState::kDown;
  port().info.lid = wire::Lid{0xbfff};
  port().info.capability_mask |= mad::capability::kIsSm;
  EXPECT_EQ(File("ports/1/state"), "1: DOWN\n");
  EXPECT_EQ(File("ports/1/lid"), "0xbfff\n");
  EXPECT_EQ(File("ports/1/cap_mask"), "0x0259e84a\n");
}

TEST_F(TreeTest, ShowsEmptyTableEntriesAsZeros) {
  EXPECT_EQ(File("ports/1/gids/0"),
            "fe80:0000:0000:0000:0000:0000:0000:1001\n");
  EXPECT_EQ(File("ports/1/gids/1"),
            "0000:0000:0000:0000:0000:0000:0000:0000\n");
  EXPECT_EQ(File("ports/1/pkeys/0"), "0xffff\n");
  EXPECT_EQ(File("ports/1/pkeys/1"), "0x0000\n");
  EXPECT_THAT(Find(*tree_, "class/infiniband/ibemu0/ports/1/gids/2"), IsNull());
}

TEST_F(TreeTest, RefusesAttributesOfEmptyGids) {
  EXPECT_EQ(File("ports/1/gid_attrs/types/0"), "IB/RoCE v1\n");
  for (const char* name :
       {"gid_attrs/types/1", "gid_attrs/ndevs/0", "gid_attrs/ndevs/1"}) {
    const std::string path =
        std::string("class/infiniband/ibemu0/ports/1/") + name;
    EXPECT_EQ(Cat(*tree_, path).status().code(),
              absl::StatusCode::kInvalidArgument)
        << name;
  }
}

TEST_F(TreeTest, WritesTheNodeDescriptionAsItComes) {
  const std::string path = "class/infiniband/ibemu0/node_desc";
  EXPECT_EQ(Find(*tree_, path)->mode, 0644);
  ASSERT_TRUE(Write(*tree_, path, "node-1 HCA-1\n").ok());
  EXPECT_EQ(device_.node_description(), "node-1 HCA-1\n");
  EXPECT_EQ(File("node_desc"), "node-1 HCA-1\n\n");
}

TEST_F(TreeTest, EndsTheNodeDescriptionAtItsFirstZero) {
  device_.SetNodeDescription(std::string_view("cut\0off", 7));
  EXPECT_EQ(File("node_desc"), "cut\n");
}

TEST_F(TreeTest, KeepsALifespanWithinItsLimits) {
  const std::string path =
      "class/infiniband/ibemu0/ports/1/hw_counters/lifespan";
  EXPECT_EQ(Text(path), "10\n");
  EXPECT_TRUE(Write(*tree_, path, "10000\n").ok());
  EXPECT_EQ(Text(path), "10000\n");
  for (const char* wrong : {"10001", "-1", "soon", ""}) {
    EXPECT_EQ(Write(*tree_, path, wrong).code(),
              absl::StatusCode::kInvalidArgument)
        << wrong;
  }
  EXPECT_EQ(Text(path), "10000\n");
}

TEST_F(TreeTest, LetsNothingElseBeWritten) {
  EXPECT_EQ(Write(*tree_, "class/infiniband/ibemu0/node_guid", "x").code(),
            absl::StatusCode::kPermissionDenied);
}

// [sysfs_files]
TEST_F(TreeTest, ShowsItsNodesInTheMadClass) {
  EXPECT_EQ(Text("class/infiniband_mad/abi_version"), "5\n");
  EXPECT_EQ(Text("class/infiniband_mad/umad0/ibdev"), "ibemu0\n");
  EXPECT_EQ(Text("class/infiniband_mad/umad0/port"), "1\n");
  EXPECT_EQ(Text("class/infiniband_mad/umad0/dev"), "231:0\n");
  EXPECT_EQ(Text("class/infiniband_mad/umad0/uevent"),
            "MAJOR=231\nMINOR=0\nDEVNAME=infiniband/umad0\n");
  EXPECT_EQ(Text("class/infiniband_mad/issm0/ibdev"), "ibemu0\n");
  EXPECT_EQ(Text("class/infiniband_mad/issm0/port"), "1\n");
  EXPECT_EQ(Text("class/infiniband_mad/issm0/dev"), "231:64\n");
}

TEST_F(TreeTest, HasNoVerbsUntilTheViewSaysSo) {
  EXPECT_EQ(Text("class/infiniband_verbs/abi_version"), "6\n");
  EXPECT_EQ(Find(*tree_, "class/infiniband_verbs")->children.size(), 1u);

  view_.devices[0].uverbs = 0;
  tree_ = BuildTree(view_);
  EXPECT_EQ(Text("class/infiniband_verbs/uverbs0/ibdev"), "ibemu0\n");
  EXPECT_EQ(Text("class/infiniband_verbs/uverbs0/abi_version"), "1\n");
  EXPECT_EQ(Text("class/infiniband_verbs/uverbs0/dev"), "231:192\n");
  EXPECT_EQ(Text("class/infiniband_verbs/uverbs0/device/vendor"), "0x1077\n");
}

TEST_F(TreeTest, GivesErrorsOnceTheDeviceIsGone) {
  device_.Remove();
  EXPECT_EQ(Cat(*tree_, "class/infiniband/ibemu0/ports/1/state").status(),
            absl::UnavailableError("the device is gone"));
  EXPECT_EQ(Write(*tree_, "class/infiniband/ibemu0/node_desc", "x").code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(device_.node_description(), "fake device");
}

TEST(SwitchTreeTest, HasPortZeroAndNoOther) {
  Machine machine;
  machine.AddSwitch();
  const View view = *machine.Show();
  const std::unique_ptr<Entry> tree = BuildTree(view);
  EXPECT_EQ(*Cat(*tree, "class/infiniband/ibemu0/node_type"), "2: switch\n");
  const Entry* ports = Find(*tree, "class/infiniband/ibemu0/ports");
  ASSERT_THAT(ports, NotNull());
  std::vector<std::string> names;
  for (const auto& [name, entry] : ports->children) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("0"));
  EXPECT_EQ(*Cat(*tree, "class/infiniband_mad/umad0/port"), "0\n");
}

TEST(TwoPortTreeTest, NumbersNodesPortByPort) {
  Machine machine;
  machine.AddAdapter(1);
  machine.AddAdapter(2);
  const View view = *machine.Show();
  const std::unique_ptr<Entry> tree = BuildTree(view);
  EXPECT_EQ(*Cat(*tree, "class/infiniband_mad/umad1/ibdev"), "ibemu1\n");
  EXPECT_EQ(*Cat(*tree, "class/infiniband_mad/umad1/port"), "1\n");
  EXPECT_EQ(*Cat(*tree, "class/infiniband_mad/umad2/ibdev"), "ibemu1\n");
  EXPECT_EQ(*Cat(*tree, "class/infiniband_mad/umad2/port"), "2\n");
  EXPECT_EQ(*Cat(*tree, "class/infiniband_mad/issm2/dev"), "231:66\n");
  EXPECT_EQ(*Cat(*tree, "class/infiniband/ibemu1/hca_type"),
            "InfiniPath_QLE7342\n");
}

// Two adapters, of which the first comes and goes.
class HotPlugTreeTest : public ::testing::Test {
 protected:
  HotPlugTreeTest() {
    machine_.AddAdapter(2);
    machine_.AddAdapter(1);
    view_ = *machine_.Show();
    tree_ = BuildTree(view_);
  }

  bool Has(std::string_view path) { return Find(*tree_, path) != nullptr; }

  Machine machine_;
  View view_;
  std::unique_ptr<Entry> tree_;
};

TEST_F(HotPlugTreeTest, ARemovedDeviceIsInNoClassAndOnNoBus) {
  RemoveDevice(*tree_, view_, view_.devices[0]);
  for (const char* path :
       {"class/infiniband/ibemu0", "class/infiniband_mad/umad0",
        "class/infiniband_mad/issm1", "devices/pci1bed:00/1bed:00:00.0",
        "bus/pci/devices/1bed:00:00.0"}) {
    EXPECT_FALSE(Has(path)) << path;
  }
  for (const char* path :
       {"class/infiniband/ibemu1/ports/1/state", "class/infiniband_mad/umad2",
        "bus/pci/devices/1bed:00:01.0/vendor", "bus/pci/drivers/ib_qib"}) {
    EXPECT_TRUE(Has(path)) << path;
  }
}

TEST_F(HotPlugTreeTest, ItsNamesOnTheBusStayButAreNotListed) {
  const Entry& devices = *Find(*tree_, "bus/pci/devices");
  const Entry* const link = devices.children.at("1bed:00:00.0").get();
  RemoveDevice(*tree_, view_, view_.devices[0]);
  EXPECT_EQ(devices.children.at("1bed:00:00.0").get(), link);
  EXPECT_FALSE(link->listed);
  EXPECT_TRUE(devices.children.at("1bed:00:01.0")->listed);
  AddDevice(*tree_, view_, view_.devices[0]);
  EXPECT_EQ(devices.children.at("1bed:00:00.0").get(), link);
  EXPECT_TRUE(link->listed);
}

TEST_F(HotPlugTreeTest, OnlyDirectoriesThatSaySoChange) {
  const auto still = [](const Entry& entry, const auto& self) -> int {
    if (entry.changes) return 0;
    int count = 1;
    for (const auto& [name, child] : entry.children)
      count += self(*child, self);
    return count;
  };
  const int before = still(*tree_, still);
  RemoveDevice(*tree_, view_, view_.devices[0]);
  RemoveDevice(*tree_, view_, view_.devices[1]);
  EXPECT_EQ(still(*tree_, still), before);
}

TEST_F(HotPlugTreeTest, AnEntryThatSomebodyKeepsOutlivesItsDevice) {
  const std::shared_ptr<Entry> state =
      Find(*tree_, "class/infiniband/ibemu0/ports/1")->children.at("state");
  machine_.device(0).Remove();
  RemoveDevice(*tree_, view_, view_.devices[0]);
  PullOut(view_, 0);
  EXPECT_EQ(state->read().status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ibemu::sysfs
