#include "hca/mlx4/core/reset.h"

#include <gtest/gtest.h>

#include <string>

#include "gmock/gmock.h"
#include "hca/bus/pci_config.h"
#include "testing/mad_builder.h"
#include "testing/virtual_timers.h"
#include "tests/hca/scripted_adapter.h"

namespace ibemu::hca::mlx4 {
namespace {

using testing::HasStatusCode;
using ::testing::HasSubstr;

class ResetTest : public ::testing::Test {
 protected:
  ResetTest() {
    // What a reset does.
    adapter_.on_write = [this](size_t offset, uint32_t value) {
      if (offset != prm::kReset) return;
      EXPECT_EQ(value, prm::kResetValue);
      ++resets_;
      adapter_.WriteConfig(0x10, 4, 0);
      adapter_.WriteConfig(pci_config::kCommand, 2, 0);
      if (clears_owner_) adapter_.Set(prm::kOwner, 0);
    };
    adapter_.WriteConfig(0x10, 4, 0xf0000000);
    adapter_.WriteConfig(pci_config::kCommand, 2, 6);
  }

  absl::StatusOr<LastOwner> Take() {
    return TakeAdapter(adapter_, adapter_, timers_, pause_);
  }

  testing::VirtualTimers timers_;
  Pause pause_ = [this](absl::Duration span) { timers_.RunFor(span); };
  ScriptedAdapter adapter_;
  bool clears_owner_ = true;
  int resets_ = 0;
};

TEST_F(ResetTest, RestoresConfigurationSpaceWithoutBusMastering) {
  const absl::Time start = timers_.Now();
  ASSERT_TRUE(ResetAdapter(adapter_, adapter_, timers_, pause_).ok());
  EXPECT_EQ(resets_, 1);
  EXPECT_GE(timers_.Now() - start, absl::Seconds(1));
  EXPECT_EQ(adapter_.ReadConfig(0x10, 4), 0xf0000000u);
  EXPECT_EQ(adapter_.ReadConfig(pci_config::kCommand, 2),
            pci_config::kCommandMemory | pci_config::kCommandIntxDisable);
}

TEST_F(ResetTest, LeavesAloneWhatSomebodyElseResets) {
  adapter_.Set(prm::kResetSemaphore, 1);
  EXPECT_EQ(ResetAdapter(adapter_, adapter_, timers_, pause_).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(resets_, 0);
}

TEST_F(ResetTest, SaysAtOnceThatTheAdapterIsGone) {
  const absl::Time start = timers_.Now();
  adapter_.Set(prm::kResetSemaphore, ~uint32_t{0});
  const absl::Status by_semaphore =
      ResetAdapter(adapter_, adapter_, timers_, pause_);
  EXPECT_EQ(by_semaphore.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(by_semaphore.message()),
              HasSubstr("does not answer on the bus any more"));

  adapter_.Set(prm::kResetSemaphore, 0);
  adapter_.WriteConfig(pci_config::kRevision, 4, ~uint32_t{0});
  EXPECT_EQ(ResetAdapter(adapter_, adapter_, timers_, pause_), by_semaphore);
  EXPECT_EQ(timers_.Now(), start);
  EXPECT_EQ(resets_, 0);
}

TEST_F(ResetTest, NoticesThatTheAdapterDoesNotComeBack) {
  adapter_.on_write = [this](size_t offset, uint32_t) {
    if (offset != prm::kReset) return;
    adapter_.WriteConfig(pci_config::kRevision, 4, ~uint32_t{0});
  };
  EXPECT_EQ(ResetAdapter(adapter_, adapter_, timers_, pause_).code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(ResetTest, TakesAFreeAdapter) {
  const auto last = Take();
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(*last, LastOwner::kLeft);
  EXPECT_EQ(adapter_.Get(prm::kOwner), 1u) << "it is ours";
  ReleaseAdapter(adapter_);
  EXPECT_EQ(adapter_.Get(prm::kOwner), 0u);
}

TEST_F(ResetTest, KeepsAFreeAdapterWhoseSemaphoreSurvivesTheReset) {
  clears_owner_ = false;
  const auto last = Take();
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(*last, LastOwner::kLeft);
}

TEST_F(ResetTest, NoticesAnOwnerThatWasKilled) {
  adapter_.Set(prm::kOwner, 1);
  const auto last = Take();
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(*last, LastOwner::kWasKilled);
  EXPECT_EQ(resets_, 1);
}

TEST_F(ResetTest, RefusesAnAdapterWhoseOwnerSurvivesTheReset) {
  clears_owner_ = false;
  adapter_.Set(prm::kOwner, 1);
  EXPECT_THAT(Take(), HasStatusCode(absl::StatusCode::kFailedPrecondition));
}

TEST_F(ResetTest, GivesAnAdapterBackThatItCouldNotReset) {
  adapter_.Set(prm::kResetSemaphore, 1);
  EXPECT_FALSE(Take().ok());
  EXPECT_EQ(adapter_.Get(prm::kOwner), 0u);
}

}  // namespace
}  // namespace ibemu::hca::mlx4
