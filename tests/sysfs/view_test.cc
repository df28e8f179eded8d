#include "sysfs/view.h"

#include <algorithm>

#include "tests/sysfs/fixture.h"

namespace ibemu::sysfs {
namespace {

using ::testing::ElementsAre, ::testing::HasSubstr;

std::string ErrorOf(const absl::StatusOr<View>& view) {
  return std::string(view.status().message());
}

// [umad_numbers]
TEST(ViewTest, NamesAndNumbersTheDevicesInOrder) {
  Machine machine;
  machine.AddAdapter(2);
  machine.AddSwitch();
  machine.AddAdapter(1);
  const absl::StatusOr<View> view = machine.Show();
  ASSERT_TRUE(view.ok()) << view.status();
  ASSERT_EQ(view->devices.size(), 3u);
  EXPECT_EQ(view->devices[0].name, "ibemu0");
  EXPECT_THAT(view->devices[0].umads, ElementsAre(0, 1));
  EXPECT_EQ(view->devices[1].name, "ibemu1");
  EXPECT_THAT(view->devices[1].umads, ElementsAre(2));  // a switch: port 0
  EXPECT_EQ(view->devices[2].name, "ibemu2");
  EXPECT_THAT(view->devices[2].umads, ElementsAre(3));
  EXPECT_GE(view->cpu_count, 1);
}

TEST(ViewTest, NumbersTheUverbsNodesOfAdaptersIfThereAreAny) {
  Machine machine;
  machine.AddAdapter(2);
  machine.AddSwitch();
  machine.AddAdapter(1);
  absl::StatusOr<View> view = machine.Show("ibemu%d", Profile::kQib, true);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->devices[0].uverbs, 0);
  EXPECT_EQ(view->devices[1].uverbs, std::nullopt);
  EXPECT_EQ(view->devices[2].uverbs, 1);

  PullOut(*view, 0);
  PlugIn(*view, 0, machine.FreshHost(0));
  EXPECT_EQ(view->devices[0].uverbs, 0);
  EXPECT_EQ(machine.Show()->devices[0].uverbs, std::nullopt);
  EXPECT_EQ(machine.Show("ibemu%d", Profile::kHfi1, true)->devices[2].uverbs,
            1);
  EXPECT_EQ(machine.Show("mlx5_%d", Profile::kCx7, true)->devices[0].uverbs,
            std::nullopt)
      << "no provider of libibverbs drives it";
}

TEST(ViewTest, PutsTheNumberWhereTheFormatSays) {
  Machine machine;
  machine.AddAdapter(1);
  EXPECT_EQ(machine.Show("mlx5_%d")->devices[0].name, "mlx5_0");
  EXPECT_EQ(machine.Show("ib%dx")->devices[0].name, "ib0x");
  EXPECT_EQ(machine.Show("alone")->devices[0].name, "alone");
}

TEST(ViewTest, WantsNumbersInTheNamesOfSeveralDevices) {
  Machine machine;
  machine.AddAdapter(1);
  machine.AddAdapter(1);
  EXPECT_THAT(ErrorOf(machine.Show("alone")),
              HasSubstr("is one name for 2 devices: add %d"));
}

TEST(ViewTest, RefusesFormatsThatMakeNoFileName) {
  Machine machine;
  machine.AddAdapter(1);
  for (const char* format : {"", ".", "..", "a/%d", "%s", "%d%d", "%05d"}) {
    EXPECT_EQ(machine.Show(format).status().code(),
              absl::StatusCode::kInvalidArgument)
        << format;
  }
}

TEST(ViewTest, TakesNamesOfNineteenCharactersAndNoMore) {
  Machine machine;
  machine.AddAdapter(1);
  EXPECT_TRUE(machine.Show("a_name_of_19_char%ds").ok());
  EXPECT_THAT(ErrorOf(machine.Show("a_name_of_20_chars_%d")),
              HasSubstr("has 20 characters: libibumad has room for 19"));
}

TEST(ViewTest, ShowsThirtyTwoDevicesAndNoMore) {
  Machine machine;
  for (int i = 0; i < 32; ++i) machine.AddAdapter(2);
  EXPECT_THAT(machine.Show()->devices.back().umads, ElementsAre(62, 63));
  machine.AddAdapter(1);
  EXPECT_EQ(machine.Show().status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(ErrorOf(machine.Show()),
              HasSubstr("33 devices asked for: libibumad sees at most 32"));
}

TEST(ViewTest, ShowsSixtyFourPortsAndNoMore) {
  Machine machine;
  for (int i = 0; i < 22; ++i) machine.AddAdapter(3);
  EXPECT_THAT(ErrorOf(machine.Show()),
              HasSubstr("66 ports: libibumad sees at most 64"));
}

// Three adapters with one, one and two ports.
class HotPlugViewTest : public ::testing::Test {
 protected:
  HotPlugViewTest() {
    machine_.AddAdapter(1);
    machine_.AddAdapter(1);
    machine_.AddAdapter(2);
    view_ = *machine_.Show();
  }

  void Pull(int slot) {
    machine_.device(static_cast<size_t>(slot)).Remove();
    PullOut(view_, slot);
  }
  void Plug(int slot) {
    machine_.device(static_cast<size_t>(slot)).Add();
    PlugIn(view_, slot, machine_.FreshHost(static_cast<size_t>(slot)));
  }
  const ViewDevice& InSlot(int slot) {
    const auto found = std::find_if(
        view_.devices.begin(), view_.devices.end(),
        [slot](const ViewDevice& device) { return device.slot == slot; });
    EXPECT_NE(found, view_.devices.end());
    return *found;
  }

  Machine machine_;
  View view_;
};

TEST_F(HotPlugViewTest, TheOthersKeepNamesAndNumbers) {
  Pull(0);
  ASSERT_EQ(view_.devices.size(), 2u);
  EXPECT_EQ(InSlot(1).name, "ibemu1");
  EXPECT_THAT(InSlot(1).umads, ElementsAre(1));
  EXPECT_THAT(InSlot(2).umads, ElementsAre(2, 3));
  PullOut(view_, 0);  // empty already
  EXPECT_EQ(view_.devices.size(), 2u);
}

TEST_F(HotPlugViewTest, WhatComesBackAloneIsTheSameAsBefore) {
  for (int slot = 0; slot < 3; ++slot) {
    const ViewDevice before = InSlot(slot);
    Pull(slot);
    Plug(slot);
    EXPECT_EQ(InSlot(slot).name, before.name);
    EXPECT_EQ(InSlot(slot).umads, before.umads);
    EXPECT_NE(InSlot(slot).host, before.host);
    EXPECT_EQ(view_.devices[static_cast<size_t>(slot)].slot, slot);
  }
}

TEST_F(HotPlugViewTest, TheLowestFreeNameAndNumbersAreGivenFirst) {
  Pull(0);
  Pull(2);
  Plug(2);
  EXPECT_EQ(InSlot(2).name, "ibemu0");
  EXPECT_THAT(InSlot(2).umads, ElementsAre(0, 2));  // 1 is taken
  Plug(0);
  EXPECT_EQ(InSlot(0).name, "ibemu2");
  EXPECT_THAT(InSlot(0).umads, ElementsAre(3));
}

TEST_F(HotPlugViewTest, ANameWithoutNumberComesBack) {
  Machine machine;
  machine.AddAdapter(1);
  View view = *machine.Show("mlx5_bond");
  machine.device(0).Remove();
  PullOut(view, 0);
  EXPECT_TRUE(view.devices.empty());
  PlugIn(view, 0, machine.FreshHost(0));
  EXPECT_EQ(view.devices.at(0).name, "mlx5_bond");
}

}  // namespace
}  // namespace ibemu::sysfs
