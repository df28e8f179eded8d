#include "cli/profile/profile_choice.h"

#include "gtest/gtest.h"

namespace ibemu::cli {
namespace {

using sysfs::Profile;

// Of Debian 12, where no adapter of ours needs the others.
const ProviderFiles kBoth = {
    {"mlx5", "ipathverbs", "hfi1verbs"},
    {"libhfi1verbs-rdmav34.so", "libipathverbs-rdmav34.so",
     "libmlx5-rdmav34.so"}};

TEST(ProfileChoiceTest, TakesQibWhereLibibverbsHasIpathverbs) {
  const ProfileChoice choice = ChooseProfile(kBoth);
  EXPECT_EQ(choice.profile, Profile::kQib);
  EXPECT_EQ(choice.provider, "ipathverbs");
  EXPECT_EQ(choice.reason, "libibverbs has ipathverbs");
}

TEST(ProfileChoiceTest, TakesHfi1WhereThereIsNoIpathverbsAnyMore) {
  const ProfileChoice choice =
      ChooseProfile({{"mlx5", "hfi1verbs"},
                     {"libmlx5-rdmav65.so", "libhfi1verbs-rdmav65.so"}});
  EXPECT_EQ(choice.profile, Profile::kHfi1);
  EXPECT_EQ(choice.provider, "hfi1verbs");
  EXPECT_EQ(choice.reason, "libibverbs has hfi1verbs and no ipathverbs");
}

TEST(ProfileChoiceTest, ConfigurationThatARemovedPackageLeftDoesNotCount) {
  ProviderFiles files = kBoth;
  files.libraries = {"libhfi1verbs-rdmav65.so"};
  const ProfileChoice choice = ChooseProfile(files);
  EXPECT_EQ(choice.profile, Profile::kHfi1);
  EXPECT_EQ(choice.reason,
            "libibverbs has hfi1verbs and ipathverbs in /etc/libibverbs.d "
            "without its library");
}

TEST(ProfileChoiceTest, ALibraryThatNoConfigurationNamesDoesNotCount) {
  ProviderFiles files = kBoth;
  files.drivers = {"hfi1verbs"};
  const ProfileChoice choice = ChooseProfile(files);
  EXPECT_EQ(choice.profile, Profile::kHfi1);
  EXPECT_EQ(choice.reason,
            "libibverbs has hfi1verbs and the library of ipathverbs without "
            "its name in /etc/libibverbs.d");
}

TEST(ProfileChoiceTest, OtherNamesAreNotTakenForTheProviders) {
  const ProfileChoice choice = ChooseProfile(
      {{"ipathverbs2", "hfi1verbs"},
       {"libipathverbs2-rdmav34.so", "libhfi1verbs-rdmav34.so.dpkg-new",
        "hfi1verbs-rdmav34.so"}});
  EXPECT_EQ(choice.provider, "");
}

TEST(ProfileChoiceTest, StaysWithQibWhereThereIsNeither) {
  const ProfileChoice choice = ChooseProfile({});
  EXPECT_EQ(choice.profile, Profile::kQib);
  EXPECT_EQ(choice.provider, "");
  EXPECT_EQ(choice.reason, "libibverbs has no ipathverbs and no hfi1verbs");
}

TEST(ProfileChoiceTest, WhatIsAskedForIsNotLookedUp) {
  EXPECT_EQ(ProfileOr("cx7"), "cx7");
  EXPECT_EQ(ProfileOr("nonsense"), "nonsense");
}

}  // namespace
}  // namespace ibemu::cli
