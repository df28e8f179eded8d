#include "cli/device_plugin/shown_devices.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/temp_directory.h"

namespace ibemu::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ShownDevicesTest : public ::testing::Test {
 protected:
  void Show(const std::string& entry) const {
    std::filesystem::create_directories(mount_.path() + "/sys/class/" + entry);
  }

  testing::TempDirectory mount_;
};

TEST_F(ShownDevicesTest, TheDevicesOfAllClassesAreThere) {
  for (const char* const entry :
       {"infiniband/ibemu0", "infiniband_mad/umad0", "infiniband_mad/issm0",
        "infiniband_mad/umad1", "infiniband_mad/abi_version",
        "infiniband_verbs/uverbs0", "infiniband_verbs/abi_version",
        "misc/rdma_cm", "net/ib0"}) {
    Show(entry);
  }
  EXPECT_THAT(ShownDevices(mount_.path()).value(),
              ElementsAre("issm0", "rdma_cm", "umad0", "umad1", "uverbs0"));
}

TEST_F(ShownDevicesTest, AViewMayHaveNoVerbs) {
  Show("infiniband_mad/umad0");
  EXPECT_THAT(ShownDevices(mount_.path()).value(), ElementsAre("umad0"));
}

TEST_F(ShownDevicesTest, WithoutAnAdapterThereAreNone) {
  for (const char* const entry :
       {"infiniband_mad/abi_version", "misc/rdma_cm"}) {
    const auto none = ShownDevices(mount_.path());
    EXPECT_TRUE(absl::IsNotFound(none.status()));
    EXPECT_THAT(std::string(none.status().message()),
                HasSubstr("\"ibemud --front-end=cuse\" does"));
    Show(entry);
  }
}

TEST_F(ShownDevicesTest, AFileSystemThatDoesNotAnswerIsOfADaemonThatHasEnded) {
  Show("");
  // Not ENOTCONN, for which a FUSE file system has to die, but no ENOENT
  // either.
  std::ofstream(mount_.path() + "/sys/class/infiniband_mad") << "no directory";
  EXPECT_TRUE(absl::IsUnavailable(ShownDevices(mount_.path()).status()));
}

}  // namespace
}  // namespace ibemu::cli
