#include "cli/profile/provider_files.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/temp_directory.h"

namespace ibemu::cli {
namespace {

using ::testing::IsEmpty, ::testing::UnorderedElementsAre;

// A machine made of files.
class ProviderFilesTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  ProviderFiles Read() { return ReadProviderFiles(root_); }

  const testing::TempDirectory temporary_;
  const std::string root_ = temporary_.path();
};

TEST_F(ProviderFilesTest, AMachineWithoutLibibverbsHasNone) {
  EXPECT_THAT(Read().drivers, IsEmpty());
  EXPECT_THAT(Read().libraries, IsEmpty());
}

TEST_F(ProviderFilesTest, DriversAreReadAsLibibverbsReadsThem) {
  Write("/etc/libibverbs.d/ipathverbs.driver", "driver ipathverbs\n");
  Write("/etc/libibverbs.d/mine",
        "# driver mlx4\n\n \tdriver \t hfi1verbs  \ndriver\nload mlx5\n"
        "drivers rxe\ndriver siw");
  Write("/etc/libibverbs.d/more.driver/inner.driver", "driver efa\n");
  EXPECT_THAT(Read().drivers,
              UnorderedElementsAre("ipathverbs", "hfi1verbs", "siw"));
}

TEST_F(ProviderFilesTest, LibrariesAreFoundWhereDistributionsHaveThem) {
  Write("/usr/lib/aarch64-linux-gnu/libibverbs/liba-rdmav34.so", "");
  Write("/usr/lib/arm-linux-gnueabihf/libibverbs/libb-rdmav34.so", "");
  Write("/usr/lib64/libibverbs/libc-rdmav57.so", "");
  Write("/usr/lib/libibverbs/libd-rdmav57.so", "");
  Write("/usr/local/lib/x86_64-linux-gnu/libibverbs/libe-rdmav65.so", "");
  Write("/usr/lib/python3/libibverbs/libf-rdmav65.so", "");
  EXPECT_THAT(Read().libraries,
              UnorderedElementsAre("liba-rdmav34.so", "libb-rdmav34.so",
                                   "libc-rdmav57.so", "libd-rdmav57.so",
                                   "libe-rdmav65.so"));
}

}  // namespace
}  // namespace ibemu::cli
