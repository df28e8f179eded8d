#include "hca/families.h"

#include <gtest/gtest.h>

#include <string>

#include "gmock/gmock.h"
#include "hca/bus/pci_config.h"
#include "testing/virtual_timers.h"
#include "tests/hca/scripted_adapter.h"

namespace ibemu::hca {
namespace {

using ::testing::HasSubstr;

TEST(FamiliesTest, TakeWhatOneOfThemHasADriverFor) {
  EXPECT_TRUE(CheckDevice(prm::kMellanoxVendor, prm::kConnectX3).ok());
}

TEST(FamiliesTest, RefuseWhatNoneHasBeforeTheyTouchIt) {
  constexpr uint16_t kConnectX4 = 0x1013;
  const absl::Status refused = CheckDevice(prm::kMellanoxVendor, kConnectX4);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("15b3:1013"));

  mlx4::ScriptedAdapter adapter;
  adapter.WriteConfig(pci_config::kVendor, 4,
                      uint32_t{kConnectX4} << 16 | prm::kMellanoxVendor);
  testing::VirtualTimers timers;
  DeviceOptions options;
  options.pause = [&timers](absl::Duration span) { timers.RunFor(span); };
  EXPECT_EQ(StartDevice(adapter, timers, options).status(), refused);
  EXPECT_EQ(ProbeDevice(adapter, timers, options, [](std::string_view) {}),
            refused);
  EXPECT_TRUE(adapter.commands.empty());
}

}  // namespace
}  // namespace ibemu::hca
