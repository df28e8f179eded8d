#include "sysfs/tree.h"

#include "tests/sysfs/fixture.h"

namespace ibemu::sysfs {
namespace {

// A one-port adapter, seen through its tree.  What its files hold is told by
// golden/.
class TreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    port().info.capability_mask = 0x0259e848;
    view_ = *machine_.Show();
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

TEST_F(TreeTest, ShowsAChangeAtTheNextRead) {
  port().info.port_state = mad::PortState::kDown;
  port().info.lid = wire::Lid{0xbfff};
  port().info.capability_mask |= mad::capability::kIsSm;
  EXPECT_EQ(File("ports/1/state"), "1: DOWN\n");
  EXPECT_EQ(File("ports/1/lid"), "0xbfff\n");
  EXPECT_EQ(File("ports/1/cap_mask"), "0x0259e84a\n");
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

TEST_F(TreeTest, GivesErrorsOnceTheDeviceIsGone) {
  device_.Remove();
  EXPECT_EQ(Cat(*tree_, "class/infiniband/ibemu0/ports/1/state").status(),
            absl::UnavailableError("the device is gone"));
  EXPECT_EQ(Write(*tree_, "class/infiniband/ibemu0/node_desc", "x").code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(device_.node_description(), "fake device");
}

TEST_F(TreeTest, HasRdmaCmOnlyWhereTheViewHasIt) {
  EXPECT_EQ(Find(*tree_, "class/misc"), nullptr);
  EXPECT_EQ(Find(*tree_, "class/infiniband/ibemu0/ports/1/cm_tx_msgs"),
            nullptr);
}

// A view with rdma_cm.
class RdmaCmTreeTest : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    view_.rdma_cm = true;
    tree_ = BuildTree(view_);
  }
};

TEST_F(RdmaCmTreeTest, IsAMiscellaneousDevice) {
  EXPECT_EQ(Find(*tree_, "class/misc")->children.at("rdma_cm")->target,
            "../../devices/virtual/misc/rdma_cm");
  EXPECT_EQ(Text("class/misc/rdma_cm/abi_version"), "4\n");
  EXPECT_EQ(Text("class/misc/rdma_cm/dev"), "10:122\n");
  EXPECT_EQ(Text("class/misc/rdma_cm/uevent"),
            "MAJOR=10\nMINOR=122\nDEVNAME=infiniband/rdma_cm\n"
            "DEVMODE=0666\n");
}

TEST_F(RdmaCmTreeTest, SaysTheNumberThatTheKernelChose) {
  view_.numbers["rdma_cm"] = {240, 3};
  tree_ = BuildTree(view_);
  EXPECT_EQ(Text("class/misc/rdma_cm/dev"), "240:3\n");
}

TEST_F(RdmaCmTreeTest, CountsNothingWithoutAConnectionManager) {
  EXPECT_EQ(File("ports/1/cm_tx_msgs/req"), "0\n");
  EXPECT_EQ(File("ports/1/cm_rx_duplicates/apr"), "0\n");
}

TEST_F(RdmaCmTreeTest, ShowsWhatTheConnectionManagerCounts) {
  cm::CmCounters counters;
  view_.cm_counters = [&counters](const mad::Host&, int port) {
    return port == 1 ? counters : cm::CmCounters();
  };
  tree_ = BuildTree(view_);
  counters.tx_msgs[0] = 1;
  counters.tx_retries[5] = 2;
  counters.rx_msgs[8] = 3;
  counters.rx_duplicates[10] = 4;
  EXPECT_EQ(File("ports/1/cm_tx_msgs/req"), "1\n");
  EXPECT_EQ(File("ports/1/cm_tx_retries/dreq"), "2\n");
  EXPECT_EQ(File("ports/1/cm_rx_msgs/sidr_rep"), "3\n");
  EXPECT_EQ(File("ports/1/cm_rx_duplicates/apr"), "4\n");
  EXPECT_EQ(File("ports/1/cm_rx_msgs/req"), "0\n");
}

TEST_F(RdmaCmTreeTest, ShowsWhatQueuePairsCount) {
  EXPECT_EQ(File("ports/1/hw_counters/packet_seq_err"), "0\n");
  verbs::HwCounters counters;
  view_.hw_counters = [&counters](const mad::Host&, int port) {
    return port == 1 ? counters : verbs::HwCounters();
  };
  tree_ = BuildTree(view_);
  counters.packet_seq_err = 3;
  counters.duplicate_request = 4;
  EXPECT_EQ(File("ports/1/hw_counters/packet_seq_err"), "3\n");
  EXPECT_EQ(File("ports/1/hw_counters/duplicate_request"), "4\n");
  EXPECT_EQ(File("ports/1/hw_counters/rnr_nak_retry_err"), "0\n");
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
