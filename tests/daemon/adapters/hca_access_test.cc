#include "daemon/adapters/hca_access.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "testing/mad_builder.h"
#include "tests/hca/bus/fake_sysfs.h"

namespace ibemu::daemon {
namespace {

using ::testing::ElementsAre;
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

TEST(HcaAccess, SaysWhoseVirtualFunctionItIs) {
  hca::FakeSysfs fake;
  fake.MakeVirtual();
  for (const char* access : {"access=vfio", "access=sysfs"}) {
    const auto function =
        OpenHca(*HcaOptions::Parse({"pci=0000:3b:00.0", access}), fake.sysfs());
    EXPECT_THAT(function, HasStatusCode(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(std::string(function.status().message()),
                HasSubstr("readlink /sys/bus/pci/devices/0000:3b:00.0/physfn"));
  }
}

std::vector<std::string> Names(const std::vector<std::string>& words) {
  const auto choices = ParseHcaChoices(words);
  EXPECT_TRUE(choices.ok()) << choices.status();
  std::vector<std::string> names;
  for (const HcaChoice& choice : choices.value_or(std::vector<HcaChoice>())) {
    names.push_back(HcaName(choice));
  }
  return names;
}

std::string ChoiceRefusal(const std::vector<std::string>& words) {
  const auto choices = ParseHcaChoices(words);
  EXPECT_THAT(choices, HasStatusCode(absl::StatusCode::kInvalidArgument));
  return std::string(choices.status().message());
}

TEST(HcaAccess, ADaemonMayHaveSeveralAdapters) {
  EXPECT_THAT(Names({"pci=3b:00.0", "model=lab/host-1", "pci=5e:00.0"}),
              ElementsAre("0000:3b:00.0", "lab/host-1", "0000:5e:00.0"));
}

TEST(HcaAccess, AccessIsThatOfTheAdapterBeforeIt) {
  const auto choices =
      ParseHcaChoices({"pci=3b:00.0", "access=sysfs", "pci=5e:00.0"});
  ASSERT_TRUE(choices.ok()) << choices.status();
  EXPECT_TRUE(std::get<HcaOptions>((*choices)[0]).by_sysfs);
  EXPECT_FALSE(std::get<HcaOptions>((*choices)[1]).by_sysfs);
  EXPECT_THAT(ChoiceRefusal({"access=sysfs", "pci=3b:00.0"}),
              HasSubstr("after the pci= of its adapter"));
  EXPECT_THAT(ChoiceRefusal({"model=lab/host-1", "access=sysfs"}),
              HasSubstr("after the pci= of its adapter"));
}

TEST(HcaAccess, AModelIsANodeOfAFabricByNameOrPath) {
  const auto by_name = HcaModelChoice::Parse("lab/MF0;leaf/U1");
  EXPECT_EQ(by_name->fabric, "lab");
  EXPECT_EQ(by_name->node, "MF0;leaf/U1");
  const auto by_path = HcaModelChoice::Parse("/run/ibemu/lab.sock/host-1");
  EXPECT_EQ(by_path->fabric, "/run/ibemu/lab.sock");
  EXPECT_EQ(by_path->node, "host-1");
  for (const char* wrong : {"", "lab", "lab/", "/host-1"}) {
    EXPECT_THAT(ChoiceRefusal({absl::StrCat("model=", wrong)}),
                HasSubstr("it is FABRIC/NODE"));
  }
}

TEST(HcaAccess, WordsNameTheSameAdaptersAgain) {
  const std::vector<std::string> words = {
      "pci=0000:3b:00.0", "access=sysfs", "model=/run/ibemu/lab.sock/host-1",
      "model=lab/MF0;leaf/U1", "pci=0000:5e:00.0"};
  const auto choices = ParseHcaChoices(words);
  ASSERT_TRUE(choices.ok()) << choices.status();
  EXPECT_EQ(HcaWords(*choices), words);
}

TEST(HcaAccess, NoAdapterIsNamedTwice) {
  EXPECT_EQ(ChoiceRefusal({"pci=3b:00.0", "pci=0000:3b:00.0"}),
            "0000:3b:00.0: this adapter is named twice");
  EXPECT_EQ(ChoiceRefusal({"model=lab/host-1", "model=lab/host-1"}),
            "lab/host-1: this adapter is named twice");
}

TEST(HcaAccess, AnAdapterIsNamed) {
  EXPECT_THAT(ChoiceRefusal({}), HasSubstr("pci=DDDD:BB:DD.F is missing"));
  EXPECT_THAT(ChoiceRefusal({"modle=lab/host-1"}),
              HasSubstr("did you mean \"model\"?"));
}

TEST(WithHeartbeat, TellsAboutOnceASecondOfWaiting) {
  absl::Duration waited;
  std::vector<absl::Duration> beats;
  const hca::Pause pause =
      WithHeartbeat([&](absl::Duration span) { waited += span; },
                    [&] { beats.push_back(waited); });
  for (int i = 0; i < 2500; ++i) pause(absl::Milliseconds(1));
  EXPECT_EQ(waited, absl::Milliseconds(2500));
  EXPECT_THAT(beats, ElementsAre(absl::Seconds(1), absl::Seconds(2)));
}

}  // namespace
}  // namespace ibemu::daemon
