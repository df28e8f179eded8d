#include "hca/bus/counted_commands.h"

#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "testing/virtual_timers.h"

namespace ibemu::hca {
namespace {

constexpr uint16_t kQueryFw = 0x004, kMadIfc = 0x024;

// Takes 3 ms for each, and answers what it was told.
class SlowChannel : public CommandChannel {
 public:
  explicit SlowChannel(testing::VirtualTimers& timers) : timers_(timers) {}

  absl::StatusOr<CommandResult> Execute(const FirmwareCommand&) override {
    timers_.RunFor(absl::Milliseconds(3));
    return answer;
  }

  absl::StatusOr<CommandResult> answer = CommandResult{};

 private:
  testing::VirtualTimers& timers_;
};

class CountedCommandsTest : public ::testing::Test {
 protected:
  testing::VirtualTimers timers_;
  SlowChannel channel_{timers_};
  CountedCommands counted_{channel_, timers_};
};

TEST_F(CountedCommandsTest, TellsWhatBecameOfACommand) {
  EXPECT_TRUE(counted_.Execute({.opcode = kMadIfc}).ok());
  channel_.answer = CommandResult{.status = 3};
  EXPECT_EQ(counted_.Execute({.opcode = kMadIfc})->status, 3);
  channel_.answer = absl::DeadlineExceededError("no end of it");
  EXPECT_FALSE(counted_.Execute({.opcode = kMadIfc}).ok());
  channel_.answer = absl::UnavailableError("the adapter is dead");
  EXPECT_FALSE(counted_.Execute({.opcode = kMadIfc}).ok());
  EXPECT_FALSE(counted_.Execute({.opcode = kMadIfc}).ok());

  const CommandTotals& totals = counted_.totals().at(kMadIfc);
  EXPECT_EQ(totals.done, 1u);
  EXPECT_EQ(totals.refused, 1u);
  EXPECT_EQ(totals.timed_out, 1u);
  EXPECT_EQ(totals.not_sent, 2u);
}

TEST_F(CountedCommandsTest, AddsUpTheTimeOfEachKindByItself) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(counted_.Execute({.opcode = kMadIfc}).ok());
  }
  EXPECT_TRUE(counted_.Execute({.opcode = kQueryFw}).ok());
  EXPECT_EQ(counted_.totals().at(kMadIfc).time, absl::Milliseconds(12));
  EXPECT_EQ(counted_.totals().at(kQueryFw).time, absl::Milliseconds(3));
  EXPECT_EQ(counted_.totals().size(), 2u);
}

}  // namespace
}  // namespace ibemu::hca
