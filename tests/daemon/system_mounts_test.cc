#include "daemon/system_mounts.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

using ::testing::ElementsAre;

using Names = std::vector<std::string>;

std::vector<std::string> Steps(const Names& served, const Names& machine) {
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
      Steps({"infiniband", "misc"}, {"infiniband", "misc"}),
      ElementsAre(
          "bind /run/ibemu/sys/sys/class/infiniband on /sys/class/infiniband"));
}

}  // namespace
}  // namespace ibemu::daemon
