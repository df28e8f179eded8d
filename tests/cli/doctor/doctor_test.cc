#include "cli/doctor/doctor.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::cli {
namespace {

using ::testing::HasSubstr;
using Level = Finding::Level;

class DiagnoseTest : public ::testing::Test {
 protected:
  DiagnoseTest() {
    facts_.has_fuse_device = true;
    facts_.providers = {{"ipathverbs"}, {"libipathverbs-rdmav34.so"}};
    facts_.open_files = 1024;
    facts_.uid = 1000;
  }
  Finding About(const std::string& subject) {
    for (const Finding& finding : Diagnose(facts_, trials_)) {
      if (finding.subject == subject) return finding;
    }
    ADD_FAILURE() << "nothing about " << subject;
    return {};
  }

  DoctorFacts facts_;
  DoctorTrials trials_;
};

TEST_F(DiagnoseTest, AHealthyMachineIsFine) {
  for (const Finding& finding : Diagnose(facts_, trials_)) {
    EXPECT_EQ(finding.level, Level::kFine) << finding.subject;
    EXPECT_EQ(finding.cure, "");
  }
}

TEST_F(DiagnoseTest, AMissingFuseDeviceIsAnObstacleWithACure) {
  facts_.has_fuse_device = false;
  EXPECT_EQ(About("/dev/fuse").level, Level::kObstacle);
  EXPECT_THAT(About("/dev/fuse").cure, HasSubstr("modprobe fuse"));
}

TEST_F(DiagnoseTest, AFailedTrialSpeaksForItself) {
  trials_.fuse =
      absl::PermissionDeniedError("/dev/fuse may not be opened: chmod");
  EXPECT_EQ(About("/dev/fuse").level, Level::kObstacle);
  EXPECT_EQ(About("/dev/fuse").what, "/dev/fuse may not be opened");
  EXPECT_EQ(About("/dev/fuse").cure, "chmod");
}

TEST_F(DiagnoseTest, AMissingNetworkIsInTheWayOfNothingElse) {
  trials_.network = absl::NotFoundError("/dev/net/tun is missing: modprobe");
  EXPECT_EQ(About("network").level, Level::kNote);
  EXPECT_EQ(About("network").what, "/dev/net/tun is missing");
  EXPECT_EQ(About("network").cure, "modprobe");
  trials_.namespaces = absl::PermissionDeniedError("forbidden: sysctl");
  EXPECT_EQ(About("network").cure, "");
}

TEST_F(DiagnoseTest, TheWaysOutOfANetworkAreNamed) {
  EXPECT_THAT(About("network").what,
              HasSubstr("neither pasta nor slirp4netns is installed"));
  facts_.outside_programs = {"pasta", "slirp4netns"};
  EXPECT_THAT(About("network").what,
              HasSubstr("--outside: pasta, slirp4netns"));
  facts_.uid = 0;
  EXPECT_THAT(About("network").what, HasSubstr("--outside: slirp4netns"));
  facts_.outside_programs = {"pasta"};
  EXPECT_THAT(About("network").what, HasSubstr("slirp4netns is not installed"));
}

TEST_F(DiagnoseTest, WithoutNamespacesTheMountsAreNotBlamed) {
  const auto forbidden = absl::PermissionDeniedError("forbidden: sysctl");
  trials_.namespaces = trials_.fuse = trials_.overlay = forbidden;
  EXPECT_EQ(About("namespaces").level, Level::kObstacle);
  EXPECT_EQ(About("/dev/fuse").level, Level::kNote);
  EXPECT_EQ(About("overlay").level, Level::kNote);
}

TEST_F(DiagnoseTest, ForbiddenIoUringOnlyCostsSpeed) {
  trials_.uring = absl::PermissionDeniedError("io_uring_setup");
  EXPECT_EQ(About("io_uring").level, Level::kNote);
  EXPECT_THAT(About("io_uring").cure, HasSubstr("seccomp profile"));
  facts_.io_uring_disabled = 2;
  EXPECT_THAT(About("io_uring").cure, HasSubstr("io_uring_disabled=0"));
}

TEST_F(DiagnoseTest, TheProfileIsToldWithItsReason) {
  EXPECT_EQ(About("verbs").what,
            "libibverbs has ipathverbs: adapters look like \"qib\"");
  facts_.providers = {{"hfi1verbs"}, {"libhfi1verbs-rdmav65.so"}};
  EXPECT_EQ(About("verbs").level, Level::kFine);
  EXPECT_EQ(About("verbs").what,
            "libibverbs has hfi1verbs and no ipathverbs: adapters look like "
            "\"hfi1\"");
}

TEST_F(DiagnoseTest, WithoutAProviderThereAreNoVerbs) {
  facts_.providers = {};
  EXPECT_EQ(About("verbs").level, Level::kNote);
  EXPECT_THAT(About("verbs").what, HasSubstr("no ipathverbs and no hfi1verbs"));
  EXPECT_THAT(About("verbs").cure, HasSubstr("ibverbs-providers"));
}

TEST_F(DiagnoseTest, UnreachableMemoryNamesYamaWhenItIsYama) {
  trials_.memory = absl::PermissionDeniedError("process_vm_writev");
  EXPECT_THAT(About("ptrace").cure, HasSubstr("SYS_PTRACE"));
  facts_.ptrace_scope = 1;
  EXPECT_THAT(About("ptrace").cure, HasSubstr("ptrace_scope=0"));
  facts_.ptrace_scope = 3;
  EXPECT_THAT(About("ptrace").cure, HasSubstr("start the machine with"));
}

TEST_F(DiagnoseTest, RealAdaptersAndFewOpenFilesAreNoted) {
  facts_.rdma_devices = {"mlx5_0"};
  facts_.open_files = 64;
  EXPECT_THAT(About("real adapters").what, HasSubstr("mlx5_0 will be hidden"));
  EXPECT_EQ(About("open files").level, Level::kNote);
}

}  // namespace
}  // namespace ibemu::cli
