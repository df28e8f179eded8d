#include "fabric/soft_hca/transport/atomic_unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "testing/fake_memory.h"
#include "testing/virtual_timers.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre;
using testing::FakeMemory;

class AtomicUnitTest : public ::testing::Test {
 protected:
  verbs::MemoryRange At(size_t offset) const {
    return {memory_, FakeMemory::kStart + offset, kAtomicBytes};
  }
  AtomicUnit::Done Remember() {
    return [this](const absl::StatusOr<uint64_t>& found) {
      if (found.ok()) {
        found_.push_back(*found);
      } else {
        failures_.push_back(found.status().code());
      }
    };
  }

  void Run(const verbs::MemoryRange& target, const AtomicOperation& operation) {
    unit_->Run(
        target, operation, [this] { return allowed_; }, Remember());
  }

  testing::VirtualTimers timers_;
  absl::Status allowed_;
  std::shared_ptr<FakeMemory> memory_ =
      std::make_shared<FakeMemory>(timers_, 64);
  std::vector<uint64_t> found_;
  std::vector<absl::StatusCode> failures_;
  std::optional<AtomicUnit> unit_{std::in_place};
};

TEST_F(AtomicUnitTest, AddsAndTellsWhatWasThere) {
  memory_->PutValue(8, ~uint64_t{0});
  Run(At(8), {.swap_or_add = 3});
  EXPECT_TRUE(found_.empty()) << "nothing happens at once";
  timers_.RunPending();
  EXPECT_THAT(found_, ElementsAre(~uint64_t{0}));
  EXPECT_EQ(memory_->Value(8), 2u) << "it wraps";
}

TEST_F(AtomicUnitTest, SwapsOnlyWhatCompares) {
  memory_->PutValue(0, 5);
  Run(At(0), {.compares = true, .compare = 4, .swap_or_add = 9});
  timers_.RunPending();
  EXPECT_EQ(memory_->Value(0), 5u);
  Run(At(0), {.compares = true, .compare = 5, .swap_or_add = 9});
  timers_.RunPending();
  EXPECT_EQ(memory_->Value(0), 9u);
  EXPECT_THAT(found_, ElementsAre(5, 5));
}

TEST_F(AtomicUnitTest, LosesNoAdditionOfSeveralAtOneAddress) {
  for (int i = 0; i < 10; ++i) {
    Run(At(16), {.swap_or_add = 1});
  }
  timers_.RunPending();
  EXPECT_EQ(memory_->Value(16), 10u);
  EXPECT_THAT(found_, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST_F(AtomicUnitTest, GoesOnAfterOneThatFailed) {
  const verbs::MemoryRange nowhere = At(64);
  Run(nowhere, {.swap_or_add = 1});
  Run(nowhere, {.swap_or_add = 1});
  Run(At(0), {.swap_or_add = 1});
  timers_.RunPending();
  EXPECT_THAT(failures_, ElementsAre(absl::StatusCode::kDataLoss,
                                     absl::StatusCode::kDataLoss));
  EXPECT_EQ(memory_->Value(0), 1u);
}

TEST_F(AtomicUnitTest, WritesNothingWhenTheRightHasGoneSinceTheRead) {
  memory_->SetDelay(absl::Milliseconds(1));
  Run(At(0), {.swap_or_add = 1});
  Run(At(8), {.swap_or_add = 1});
  allowed_ = absl::PermissionDeniedError("no key");
  timers_.RunFor(absl::Milliseconds(1));
  allowed_ = absl::OkStatus();
  timers_.RunFor(absl::Seconds(1));
  EXPECT_THAT(failures_, ElementsAre(absl::StatusCode::kPermissionDenied));
  EXPECT_EQ(memory_->Value(0), 0u);
  EXPECT_EQ(memory_->Value(8), 1u);
}

TEST_F(AtomicUnitTest, EndsWithOperationsUnderWay) {
  Run(At(0), {.swap_or_add = 1});
  unit_.reset();
  timers_.RunPending();
  EXPECT_TRUE(found_.empty());
}

}  // namespace
}  // namespace ibemu::fabric
