#include "cli/doctor/doctor_facts.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/temp_directory.h"

namespace ibemu::cli {
namespace {

using ::testing::ElementsAre;

// A machine made of files.
class DoctorFactsTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  DoctorFacts Read() { return ReadDoctorFacts(root_); }

  const testing::TempDirectory temporary_;
  const std::string root_ = temporary_.path();
};

TEST_F(DoctorFactsTest, AnEmptyMachineForbidsNothingAndHasNothing) {
  const DoctorFacts facts = Read();
  EXPECT_FALSE(facts.has_fuse_device);
  EXPECT_EQ(facts.container, "");
  EXPECT_TRUE(facts.rdma_devices.empty());
}

TEST_F(DoctorFactsTest, SysctlsAreRead) {
  Write("/proc/sys/kernel/io_uring_disabled", "2\n");
  Write("/proc/sys/kernel/yama/ptrace_scope", "3\n");
  const DoctorFacts facts = Read();
  EXPECT_EQ(facts.io_uring_disabled, 2);
  EXPECT_EQ(facts.ptrace_scope, 3);
}

TEST_F(DoctorFactsTest, ContainersAndTheirFiltersAreSeen) {
  Write("/.dockerenv", "");
  Write("/proc/self/status", "Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t2\n");
  EXPECT_EQ(Read().container, "Docker");
  EXPECT_EQ(Read().seccomp_mode, 2);
}

TEST_F(DoctorFactsTest, RealAdaptersAreListedInOrder) {
  Write("/sys/class/infiniband/mlx5_1/node_type", "1: CA\n");
  Write("/sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
  EXPECT_THAT(Read().rdma_devices, ElementsAre("mlx5_0", "mlx5_1"));
}

TEST_F(DoctorFactsTest, ProgramsForAWayOutAreFound) {
  EXPECT_TRUE(Read().outside_programs.empty());
  Write("/usr/bin/slirp4netns", "");
  std::filesystem::permissions(root_ + "/usr/bin/slirp4netns",
                               std::filesystem::perms::owner_all);
  EXPECT_THAT(Read().outside_programs, ElementsAre("slirp4netns"));
}

TEST_F(DoctorFactsTest, ProvidersOfLibibverbsAreFound) {
  Write("/etc/libibverbs.d/hfi1verbs.driver", "driver hfi1verbs\n");
  Write("/usr/lib64/libibverbs/libhfi1verbs-rdmav57.so", "");
  EXPECT_THAT(Read().providers.drivers, ElementsAre("hfi1verbs"));
  EXPECT_THAT(Read().providers.libraries,
              ElementsAre("libhfi1verbs-rdmav57.so"));
}

}  // namespace
}  // namespace ibemu::cli
