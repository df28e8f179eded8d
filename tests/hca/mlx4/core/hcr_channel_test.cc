#include "hca/mlx4/core/hcr_channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "hca/prm/mlx4_commands.h"
#include "testing/mad_builder.h"
#include "testing/virtual_timers.h"
#include "tests/hca/scripted_adapter.h"

namespace ibemu::hca::mlx4 {
namespace {

using ::testing::ElementsAre;
using testing::HasStatusCode;
using ::testing::HasSubstr;

constexpr uint16_t kQueryFw = 0x004;
constexpr uint16_t kMadIfc = 0x024;

class HcrChannelTest : public ::testing::Test {
 protected:
  HcrChannelTest() {
    hcr_ = *HcrChannel::Create(
        adapter_, adapter_, timers_,
        [this](absl::Duration span) { timers_.RunFor(span); });
  }

  testing::VirtualTimers timers_;
  ScriptedAdapter adapter_;
  std::unique_ptr<HcrChannel> hcr_;
};

TEST_F(HcrChannelTest, WritesTheCommandAndItsModifiers) {
  const auto result = hcr_->Execute({.opcode = kMadIfc,
                                     .op_modifier = 3,
                                     .in_modifier = 0x70002,
                                     .in_parameter = 0x123456789abcdef0});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(adapter_.commands.size(), 1u);
  const ScriptedCommand& posted = adapter_.commands[0];
  EXPECT_EQ(posted.status_word, 0x00a03024u)
      << "GO, the first toggle bit, modifier and opcode";
  EXPECT_EQ(posted.in_modifier, 0x70002u);
  EXPECT_EQ(posted.in_parameter, 0x123456789abcdef0u);
  EXPECT_EQ(posted.out_parameter, 0u);
}

TEST_F(HcrChannelTest, TogglesFromCommandToCommand) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(hcr_->Execute({.opcode = kQueryFw}).ok());
  }
  std::vector<uint32_t> toggles;
  for (const ScriptedCommand& command : adapter_.commands) {
    toggles.push_back(command.status_word & prm::kHcrToggle);
  }
  EXPECT_THAT(toggles, ElementsAre(prm::kHcrToggle, 0u, prm::kHcrToggle));
}

TEST_F(HcrChannelTest, CarriesMailboxesBothWays) {
  std::array<std::byte, 4> out{};
  const std::array in{std::byte{1}, std::byte{2}};
  const std::vector older(16, std::byte{0xff});
  ASSERT_TRUE(hcr_->Execute({.opcode = kMadIfc, .in = older}).ok());
  adapter_.SetScript([](const ScriptedCommand& command) {
    const auto* const mailbox =
        reinterpret_cast<const std::byte*>(command.in_parameter);
    auto* const answer = reinterpret_cast<std::byte*>(command.out_parameter);
    std::reverse_copy(mailbox, mailbox + 4, answer);
    return std::optional(ScriptedAdapter::Done(command));
  });
  ASSERT_TRUE(hcr_->Execute({.opcode = kMadIfc, .in = in, .out = out}).ok());
  EXPECT_THAT(
      out, ElementsAre(std::byte{0}, std::byte{0}, std::byte{2}, std::byte{1}))
      << "nothing of the older command is left in the mailbox";
}

TEST_F(HcrChannelTest, TakesNothingFromAnOlderAnswer) {
  std::array<std::byte, 2> out{};
  adapter_.SetScript([](const ScriptedCommand& command) {
    *reinterpret_cast<std::byte*>(command.out_parameter) = std::byte{7};
    return std::optional(ScriptedAdapter::Done(command));
  });
  ASSERT_TRUE(hcr_->Execute({.opcode = kQueryFw, .out = out}).ok());
  EXPECT_THAT(out, ElementsAre(std::byte{7}, std::byte{0}));
  adapter_.SetScript([](const ScriptedCommand& command) {
    return std::optional(ScriptedAdapter::Done(command));  // writes nothing
  });
  ASSERT_TRUE(hcr_->Execute({.opcode = kQueryFw, .out = out}).ok());
  EXPECT_THAT(out, ElementsAre(std::byte{0}, std::byte{0}));
}

TEST_F(HcrChannelTest, GivesWhatTheFirmwareSays) {
  adapter_.SetScript([this](const ScriptedCommand& command) {
    adapter_.Set(prm::kHcr + prm::kHcrOutParam, 0x11);
    adapter_.Set(prm::kHcr + prm::kHcrOutParam + 4, 0x22);
    return std::optional(ScriptedAdapter::Done(command, 0x0a));
  });
  const auto result = hcr_->Execute({.opcode = kQueryFw});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, 0x0a);
  EXPECT_EQ(result->out_parameter, 0x11'0000'0022u);
}

TEST_F(HcrChannelTest, WaitsUntilTheToggleBitComesBack) {
  adapter_.SetScript([this](const ScriptedCommand& command) {
    const uint32_t done = ScriptedAdapter::Done(command);
    timers_.RunAfter(absl::Seconds(3), [this, done] {
      adapter_.Set(prm::kHcr + prm::kHcrStatus, done);
    });
    return std::optional(done ^ prm::kHcrToggle);  // of the one before
  });
  const absl::Time start = timers_.Now();
  ASSERT_TRUE(hcr_->Execute({.opcode = kQueryFw}).ok());
  EXPECT_GE(timers_.Now() - start, absl::Seconds(3));
  EXPECT_LT(timers_.Now() - start, absl::Seconds(4));
}

TEST_F(HcrChannelTest, GivesUpAfterAMinuteForGood) {
  adapter_.SetScript([](const ScriptedCommand&) { return std::nullopt; });
  const absl::Time start = timers_.Now();
  const auto silent = hcr_->Execute({.opcode = kQueryFw});
  EXPECT_THAT(silent, HasStatusCode(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(std::string(silent.status().message()),
              HasSubstr("QUERY_FW (0x004)"));
  EXPECT_GE(timers_.Now() - start, HcrChannel::kTimeout);

  const auto later = hcr_->Execute({.opcode = kMadIfc});
  EXPECT_THAT(later, HasStatusCode(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(later.status().message()), HasSubstr("QUERY_FW"));
  EXPECT_EQ(adapter_.commands.size(), 1u) << "a dead adapter is left alone";
}

TEST_F(HcrChannelTest, WaitsForACommandOfItsPredecessor) {
  adapter_.Set(prm::kHcr + prm::kHcrStatus, prm::kHcrGo);
  EXPECT_THAT(hcr_->Execute({.opcode = kQueryFw}),
              HasStatusCode(absl::StatusCode::kDeadlineExceeded));
  EXPECT_TRUE(adapter_.commands.empty());
}

TEST_F(HcrChannelTest, NoticesThatTheAdapterIsGone) {
  adapter_.Set(prm::kHcr + prm::kHcrStatus, ~uint32_t{0});
  EXPECT_THAT(hcr_->Execute({.opcode = kQueryFw}),
              HasStatusCode(absl::StatusCode::kUnavailable));
}

TEST_F(HcrChannelTest, RefusesWhatNoMailboxHolds) {
  const std::vector<std::byte> much(prm::kMailboxBytes + 1);
  EXPECT_THAT(hcr_->Execute({.opcode = kMadIfc, .in = much}),
              HasStatusCode(absl::StatusCode::kInvalidArgument));
  EXPECT_TRUE(adapter_.commands.empty());
}

}  // namespace
}  // namespace ibemu::hca::mlx4
