#include "launch/mount_plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::launch {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

using Kind = DirectoryEntry::Kind;

constexpr char kStageIn[] = "/sys/fs/fuse/connections";

std::vector<std::string> Texts(const MountPlan& plan) {
  std::vector<std::string> texts;
  for (const MountStep& step : plan) {
    std::string text = ToString(step);
    // Shorter to read: S is the stage.
    for (size_t at; (at = text.find(kStageIn)) != std::string::npos;) {
      text.replace(at, sizeof(kStageIn) - 1, "S");
    }
    texts.push_back(text);
  }
  return texts;
}

size_t Position(const std::vector<std::string>& steps,
                const std::string& step) {
  return static_cast<size_t>(std::find(steps.begin(), steps.end(), step) -
                             steps.begin());
}

class MountPlanTest : public ::testing::Test {
 protected:
  std::vector<std::string> View() { return Texts(PlanView(machine_, served_)); }

  MachineFacts machine_;
  ServedFacts served_ = {
      .classes = {"infiniband", "infiniband_mad", "infiniband_verbs", "misc"},
      .devices = {"pci1bed:00"}};
};

TEST_F(MountPlanTest, KeepsTheMachinesOwnDirectoriesForNestedRuns) {
  EXPECT_THAT(
      Texts(PlanStage(machine_)),
      ElementsAre("tmpfs on S", "mkdir S/fuse", "mkdir S/new", "mkdir S/empty",
                  "mkdir S/host", "mkdir S/resolver", "mkdir S/state",
                  "mkdir S/class", "bind /sys/class on S/class", "mkdir S/bus",
                  "bind /sys/bus on S/bus", "mkdir S/devices",
                  "bind /sys/devices on S/devices"));
}

TEST_F(MountPlanTest, KeepsTheMachinesOwnBootIdForNestedRuns) {
  machine_.boot_id = "6a4bd7e0";
  EXPECT_THAT(PlanStage(machine_),
              Contains(MountStep{MountStep::Kind::kText, "6a4bd7e0\n",
                                 kMachineBootId}));
}

TEST_F(MountPlanTest, ANestedRunUsesTheStageOfTheOuterOne) {
  machine_.nested = true;
  EXPECT_THAT(PlanStage(machine_), IsEmpty());
}

TEST_F(MountPlanTest, BindsOverAnExistingDevInfiniband) {
  machine_.has_dev_infiniband = true;
  const std::vector<std::string> steps = View();
  EXPECT_EQ(steps.front(), "bind S/fuse/dev on /dev/infiniband");
  EXPECT_THAT(steps, Not(Contains(HasSubstr("/dev/.host"))));
}

TEST_F(MountPlanTest, BuildsADevAsideWhenThereIsNoDevInfiniband) {
  machine_.dev = {{"null", Kind::kOther, ""},
                  {"pts", Kind::kDirectory, ""},
                  {"fd", Kind::kLink, "/proc/self/fd"}};
  const std::vector<std::string> steps = View();
  EXPECT_THAT(
      std::vector<std::string>(steps.begin(), steps.begin() + 11),
      ElementsAre("tmpfs on S/new", "mkdir S/new/.host",
                  "bind /dev on S/new/.host", "mkdir S/new/infiniband",
                  "create S/new/null", "bind /dev/null on S/new/null",
                  "mkdir S/new/pts", "bind /dev/pts on S/new/pts",
                  "link S/new/fd to /proc/self/fd", "move S/new to /dev",
                  "bind S/fuse/dev on /dev/infiniband"));
}

TEST_F(MountPlanTest, ReachesPtmxBesideItsPts) {
  machine_.dev = {{"ptmx", Kind::kOther, ""}};
  EXPECT_THAT(View(), Contains("link S/new/ptmx to .host/ptmx"));
}

TEST_F(MountPlanTest, LeavesAPtmxThatIsALinkAlready) {
  machine_.dev = {{"ptmx", Kind::kLink, "pts/ptmx"}};
  EXPECT_THAT(View(), Contains("link S/new/ptmx to pts/ptmx"));
}

TEST_F(MountPlanTest, ARunWithANetworkHasNoInterfaceOfTheMachine) {
  const std::string bind = "bind S/fuse/sys/class/net on /sys/class/net";
  EXPECT_THAT(View(), Not(Contains(bind)));
  served_.classes.emplace_back("net");
  EXPECT_THAT(View(), Contains(bind));
}

TEST_F(MountPlanTest, OverlaysTheMachinesOwnClassesAndNeverAnotherOverlay) {
  for (bool nested : {false, true}) {
    machine_.nested = nested;
    EXPECT_THAT(View(),
                IsSupersetOf({"overlay S/fuse/sys/class:S/class on /sys/class",
                              "overlay S/fuse/sys/bus:S/bus on /sys/bus"}));
  }
}

TEST_F(MountPlanTest, BindsRdmaClassesOverTheOverlaySoThatTheyCanBeWritten) {
  const std::vector<std::string> steps = View();
  const size_t overlay =
      Position(steps, "overlay S/fuse/sys/class:S/class on /sys/class");
  for (const char* name :
       {"infiniband", "infiniband_mad", "infiniband_verbs"}) {
    const size_t bind = Position(
        steps,
        absl::StrCat("bind S/fuse/sys/class/", name, " on /sys/class/", name));
    ASSERT_LT(bind, steps.size()) << name;
    EXPECT_LT(overlay, bind) << name;
  }
  EXPECT_THAT(steps, Not(Contains(StartsWith("bind S/fuse/sys/class/misc"))));
}

TEST_F(MountPlanTest, HidesTheRdmaClassesOfARealAdapter) {
  machine_.classes = {{"infiniband", Kind::kDirectory, ""},
                      {"infiniband_cm", Kind::kDirectory, ""},
                      {"net", Kind::kDirectory, ""}};
  const std::vector<std::string> steps = View();
  EXPECT_THAT(steps, Contains("bind S/empty on /sys/class/infiniband_cm"));
  EXPECT_THAT(steps, Not(Contains("bind S/empty on /sys/class/infiniband")));
  EXPECT_THAT(steps, Not(Contains("bind S/empty on /sys/class/net")));
}

TEST_F(MountPlanTest, AddsThePciRootBesideTheMachinesDevices) {
  machine_.has_dev_infiniband = true;
  machine_.devices = {{"system", Kind::kDirectory, ""}};
  const std::vector<std::string> steps = View();
  const size_t start = Position(steps, "tmpfs on S/new");
  ASSERT_LT(start, steps.size());
  EXPECT_THAT(
      std::vector<std::string>(steps.begin() + static_cast<long>(start),
                               steps.end()),
      ElementsAre("tmpfs on S/new", "mkdir S/new/system",
                  "bind S/devices/system on S/new/system",
                  "mkdir S/new/pci1bed:00",
                  "bind S/fuse/sys/devices/pci1bed:00 on S/new/pci1bed:00",
                  "move S/new to /sys/devices"));
}

TEST_F(MountPlanTest, AServedDeviceHidesTheMachinesOfTheSameName) {
  machine_.devices = {{"pci1bed:00", Kind::kDirectory, ""}};
  EXPECT_THAT(View(), Not(Contains(AllOf(StartsWith("bind S/devices/"),
                                         HasSubstr("pci1bed:00")))));
}

TEST_F(MountPlanTest, RdmaCmIsShownAmongTheMachinesVirtualDevices) {
  machine_.devices = {{"virtual", Kind::kDirectory, ""}};
  served_.devices = {"pci1bed:00", "virtual"};
  const std::vector<std::string> steps = View();
  EXPECT_THAT(steps, IsSupersetOf({"bind S/devices/virtual on S/new/virtual",
                                   "overlay S/fuse/sys/devices/virtual/misc:"
                                   "S/devices/virtual/misc on "
                                   "/sys/devices/virtual/misc"}));
  EXPECT_GT(Position(steps,
                     "overlay S/fuse/sys/devices/virtual/misc:"
                     "S/devices/virtual/misc on /sys/devices/virtual/misc"),
            Position(steps, "move S/new to /sys/devices"));
}

std::vector<std::string> Steps(const std::vector<std::string>& served,
                               const std::vector<std::string>& machine) {
  std::vector<std::string> steps;
  for (const MountStep& step : PlanSystemView(served, machine)) {
    steps.push_back(ToString(step));
  }
  return steps;
}

TEST(SystemViewTest, AnOverlayGivesSysClassThePlacesThatItLacks) {
  EXPECT_THAT(
      Steps({"infiniband", "infiniband_mad"}, {"block", "net"}),
      ElementsAre(
          "overlay /run/ibemu/sys/sys/class:/sys/class on /sys/class",
          "bind /run/ibemu/sys/sys/class/infiniband on /sys/class/infiniband",
          "bind /run/ibemu/sys/sys/class/infiniband_mad on "
          "/sys/class/infiniband_mad"));
}

TEST(SystemViewTest, ClassesOfRealAdaptersAreCoveredWithoutAnOverlay) {
  EXPECT_THAT(
      Steps({"infiniband"}, {"infiniband", "infiniband_cm", "net"}),
      ElementsAre(
          "bind /run/ibemu/sys/sys/class/infiniband on /sys/class/infiniband"));
}

TEST(SystemViewTest, OtherClassesStayAsTheyAre) {
  EXPECT_THAT(
      Steps({"infiniband", "net"}, {"infiniband", "net"}),
      ElementsAre(
          "bind /run/ibemu/sys/sys/class/infiniband on /sys/class/infiniband"));
}

TEST(SystemViewTest, RdmaCmIsShownAmongTheMachinesMiscellaneousDevices) {
  EXPECT_THAT(
      Steps({"infiniband", "misc"}, {"infiniband", "misc"}),
      ElementsAre(
          "overlay /run/ibemu/sys/sys/class/misc:/sys/class/misc on "
          "/sys/class/misc",
          "bind /run/ibemu/sys/sys/class/infiniband on /sys/class/infiniband"));
}

TEST_F(MountPlanTest, AHostHasItsOwnBootIdAndKnowsItsName) {
  EXPECT_THAT(Texts(PlanHost("id", std::nullopt)),
              ElementsAre("tmpfs on S/host", "write S/host/boot_id",
                          "bind S/host/boot_id on "
                          "/proc/sys/kernel/random/boot_id"));
  EXPECT_THAT(Texts(PlanHost("", std::nullopt)),
              ElementsAre("tmpfs on S/host"));
  const MountPlan plan = PlanHost("id", "127.0.0.1 localhost\n");
  EXPECT_EQ(plan[1].source, "id\n");
  EXPECT_EQ(plan[3].source, "127.0.0.1 localhost\n");
  EXPECT_EQ(ToString(plan[4]),
            absl::StrCat("bind ", kStage, "/host/hosts on /etc/hosts"));
}

TEST_F(MountPlanTest, ARunMayHaveItsOwnNameServers) {
  const MountPlan plan = PlanResolver("nameserver 10.0.2.3\n");
  EXPECT_THAT(Texts(plan),
              ElementsAre("tmpfs on S/resolver", "write S/resolver/resolv.conf",
                          "bind S/resolver/resolv.conf on /etc/resolv.conf"));
  EXPECT_EQ(plan[1].source, "nameserver 10.0.2.3\n");
}

const StateFacts kPlainUsers = {
    .caches = {{.name = "opensm"}, {.name = "ibutils", .exists = true}},
    .log = {.name = "log", .exists = true},
    .locked_logs = {"opensm.log"}};
const StateFacts kRoots = {
    .caches = {{.name = "opensm", .writable = true}},
    .log = {.name = "log", .exists = true, .writable = true},
    .locked_logs = {}};

TEST_F(MountPlanTest, WhatAUserMayNotWriteIsCovered) {
  EXPECT_THAT(
      Texts(PlanState(kPlainUsers, std::nullopt)),
      ElementsAre("tmpfs on S/state", "mkdir S/state/cache",
                  "mkdir S/state/cache/opensm", "mkdir S/state/cache/ibutils",
                  "mkdir S/state/.cache", "cover /var/cache with S/state/cache",
                  "bind S/state/cache/ibutils on /var/cache/ibutils",
                  "mkdir S/state/log", "create S/state/log/opensm.log",
                  "mkdir S/state/.log", "cover /var/log with S/state/log"));
}

TEST_F(MountPlanTest, WhatAUserMayWriteStaysAsItIs) {
  EXPECT_THAT(PlanState(kRoots, std::nullopt), IsEmpty());
}

TEST_F(MountPlanTest, WhatIsKeptCoversEverything) {
  const std::vector<std::string> steps = Texts(PlanState(kRoots, "kept"));
  EXPECT_EQ(steps.front(), "bind kept on S/state");
  EXPECT_THAT(steps, Contains("cover /var/cache with S/state/cache"));
  EXPECT_THAT(steps, Contains("cover /var/log with S/state/log"));
}

TEST_F(MountPlanTest, WithoutAnAdapterWhatShowsOneIsEmpty) {
  EXPECT_THAT(
      Texts(PlanNoAdapter(true, {"net", "infiniband", "infiniband_mad"})),
      ElementsAre("tmpfs on /dev/infiniband", "tmpfs on /sys/class/infiniband",
                  "tmpfs on /sys/class/infiniband_mad"));
  EXPECT_THAT(PlanNoAdapter(false, {"net"}), IsEmpty());
}

}  // namespace
}  // namespace ibemu::launch
