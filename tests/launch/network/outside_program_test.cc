#include "launch/network/outside_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "testing/temp_directory.h"

namespace ibemu::launch {
namespace {

using ::testing::ElementsAre;

const OutsideProgram& Find(std::string_view name) {
  return *FindOutsideProgram(name);
}

TEST(OutsideProgramTest, ThereAreTwo) {
  EXPECT_EQ(Find("pasta").package, "passt");
  EXPECT_FALSE(Find("pasta").joins_roots);
  EXPECT_TRUE(Find("slirp4netns").joins_roots);
  EXPECT_EQ(FindOutsideProgram("none"), nullptr);
  EXPECT_EQ(FindOutsideProgram(""), nullptr);
}

TEST(OutsideProgramTest, JoinsAProcessAndMakesTap0) {
  EXPECT_THAT(
      OutsideCommand(Find("slirp4netns"), 4711),
      ElementsAre("slirp4netns", "--configure", "--mtu=65520", "4711", "tap0"));
  EXPECT_THAT(
      OutsideCommand(Find("pasta"), 4711),
      ElementsAre("pasta", "--config-net", "--foreground", "--quiet",
                  "--ns-ifname", "tap0", "--dns-forward", "169.254.1.1", "-t",
                  "none", "-u", "none", "-T", "none", "-U", "none", "4711"));
}

TEST(OutsideProgramTest, ANameServerTakesThePlaceOfOthers) {
  EXPECT_EQ(WithNameServer("# by hand\nnameserver 127.0.0.53\n"
                           "search example.org\n\tnameserver ::1\n"
                           "options edns0",
                           "10.0.2.3"),
            "# by hand\nsearch example.org\noptions edns0\n"
            "nameserver 10.0.2.3\n");
  EXPECT_EQ(WithNameServer("", "10.0.2.3"), "nameserver 10.0.2.3\n");
}

TEST(OutsideProgramTest, IsInstalledWhereItMayBeExecuted) {
  const testing::TempDirectory directory;
  const std::string path = absl::StrCat("/nowhere:", directory.path(), ":");
  const std::string file = directory.path() + "/pasta";
  EXPECT_FALSE(IsInstalled(Find("pasta"), path));
  std::ofstream(file) << "#!/bin/sh\n";
  EXPECT_FALSE(IsInstalled(Find("pasta"), path));
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  EXPECT_TRUE(IsInstalled(Find("pasta"), path));
  EXPECT_FALSE(IsInstalled(Find("slirp4netns"), path));
  EXPECT_FALSE(IsInstalled(Find("pasta"), ""));
}

constexpr char kHead[] =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\t"
    "Window\tIRTT\n";
constexpr char kNet[] =
    "ib0\t000012C6\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n";
constexpr char kDefault[] =
    "tap0\t00000000\t0202000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n";
// A half of everything, as OpenVPN has it, is not everything.
constexpr char kHalf[] =
    "tap0\t00000000\t0202000A\t0003\t0\t0\t0\t00000080\t0\t0\t0\n";

TEST(OutsideProgramTest, ADefaultRouteOfIpv4IsSeen) {
  EXPECT_FALSE(HasDefaultRoute("", ""));
  EXPECT_FALSE(HasDefaultRoute(absl::StrCat(kHead, kNet, kHalf), ""));
  EXPECT_TRUE(HasDefaultRoute(absl::StrCat(kHead, kNet, kDefault), ""));
}

TEST(OutsideProgramTest, ADefaultRouteOfIpv6IsSeenThatIsNotTheKernelsOwn) {
  const std::string zero(32, '0');
  const auto route = [&zero](const char* device) {
    return absl::StrCat(zero, " 00 ", zero, " 00 ", zero,
                        " ffffffff 00000001 00000000 00200200     ", device,
                        "\n");
  };
  EXPECT_FALSE(HasDefaultRoute("", route("lo")));
  EXPECT_TRUE(HasDefaultRoute("", route("lo") + route("tap0")));
}

}  // namespace
}  // namespace ibemu::launch
