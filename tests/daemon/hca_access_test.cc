#include "daemon/hca_access.h"

#include <gtest/gtest.h>

#include <string>

#include "gmock/gmock.h"
#include "testing/mad_builder.h"

namespace ibemu::daemon {
namespace {

using testing::HasStatusCode;
using ::testing::HasSubstr;

std::string Refusal(const std::vector<std::string>& words) {
  const auto options = HcaOptions::Parse(words);
  EXPECT_THAT(options, HasStatusCode(absl::StatusCode::kInvalidArgument));
  return std::string(options.status().message());
}

TEST(HcaAccess, GoesThroughVfioUnlessToldOtherwise) {
  const auto options = HcaOptions::Parse({"pci=0000:3b:00.0"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->address.Text(), "0000:3b:00.0");
  EXPECT_FALSE(options->by_sysfs);
  EXPECT_FALSE(HcaOptions::Parse({"pci=3b:00.0", "access=vfio"})->by_sysfs);
  EXPECT_TRUE(HcaOptions::Parse({"access=sysfs", "pci=3b:00.0"})->by_sysfs);
}

TEST(HcaAccess, SaysWhatIsWrongWithItsParameters) {
  EXPECT_THAT(Refusal({}), HasSubstr("pci=DDDD:BB:DD.F is missing"));
  EXPECT_THAT(Refusal({"pci=mlx4_0"}), HasSubstr("pci=mlx4_0"));
  EXPECT_THAT(Refusal({"pci=3b:00.0", "access=uio"}), HasSubstr("access=uio"));
  EXPECT_THAT(Refusal({"pcie=3b:00.0"}), HasSubstr("did you mean \"pci\"?"));
}

TEST(HcaAccess, SaysThatThereIsNoSuchAdapter) {
  const auto function = OpenHca(*HcaOptions::Parse({"pci=ffff:ff:1f.7"}));
  EXPECT_THAT(function, HasStatusCode(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(function.status().message()),
              HasSubstr("ffff:ff:1f.7"));
}

}  // namespace
}  // namespace ibemu::daemon
