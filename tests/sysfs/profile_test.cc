#include "sysfs/profile.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::sysfs {
namespace {

using ::testing::EndsWith;

std::string Refusal(std::string_view name) {
  return std::string(ParseProfile(name).status().message());
}

TEST(ProfileTest, EachIsFoundByItsName) {
  for (const Profile profile : {Profile::kQib, Profile::kHfi1, Profile::kCx7}) {
    EXPECT_EQ(ParseProfile(ProfileName(profile)).value(), profile);
  }
}

TEST(ProfileTest, AnotherNameIsRefusedWithThoseThatThereAre) {
  EXPECT_EQ(ParseProfile("mlx5").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Refusal("mlx5"),
            "--profile=mlx5: there are \"qib\", \"hfi1\" and \"cx7\"");
  EXPECT_EQ(Refusal(""), "--profile=: there are \"qib\", \"hfi1\" and \"cx7\"");
}

TEST(ProfileTest, ANameThatIsCloseIsAskedFor) {
  EXPECT_THAT(Refusal("hfi"), EndsWith(": did you mean \"hfi1\"?"));
  EXPECT_THAT(Refusal("HFI1"), EndsWith(": did you mean \"hfi1\"?"));
  EXPECT_THAT(Refusal("qbi"), EndsWith(": did you mean \"qib\"?"));
}

// The match tables of ipathverbs and hfi1verbs in rdma-core: both have a path
// without mapped memory for a driver whose ABI has version 1.
TEST(ProfileTest, AdaptersWithVerbsAreThoseThatProvidersMatch) {
  EXPECT_EQ(FactsOf(Profile::kQib).vendor, 0x1077);
  EXPECT_EQ(FactsOf(Profile::kQib).device, 0x7322);
  EXPECT_EQ(FactsOf(Profile::kQib).verbs_abi, 1);
  EXPECT_EQ(FactsOf(Profile::kHfi1).vendor, 0x8086);
  EXPECT_EQ(FactsOf(Profile::kHfi1).device, 0x24f0);
  EXPECT_EQ(FactsOf(Profile::kHfi1).verbs_abi, 1);
  EXPECT_EQ(FactsOf(Profile::kCx7).verbs_abi, std::nullopt);
}

}  // namespace
}  // namespace ibemu::sysfs
