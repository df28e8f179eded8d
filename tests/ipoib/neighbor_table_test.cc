// How often a table asks, and for how many.
#include "ipoib/neighbor_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "testing/virtual_timers.h"

namespace ibemu::ipoib {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;

class NeighborTableTest : public ::testing::Test, private NeighborTable::Asker {
 protected:
  struct Question {
    std::unique_ptr<Resolution> resolution;
    std::optional<absl::StatusOr<HardwareAddress>> answer;

    absl::StatusCode code() const {
      return answer ? answer->status().code() : absl::StatusCode::kUnknown;
    }
  };

  static wire::IpAddress Address(uint32_t number) {
    return wire::IpAddress::Ipv4(0xc6120000 + number);
  }
  std::unique_ptr<Question> Resolve(uint32_t number, absl::Duration timeout) {
    auto question = std::make_unique<Question>();
    question->resolution = table_.Resolve(
        Address(number), timeout,
        [question = question.get()](absl::StatusOr<HardwareAddress> answer) {
          question->answer = std::move(answer);
        });
    EXPECT_FALSE(question->answer.has_value());
    return question;
  }

  testing::VirtualTimers timers_;
  std::vector<int64_t> asked_;  // at which seconds
  NeighborTable table_{timers_, *this};

 private:
  void Ask(const wire::IpAddress& /*address*/) override {
    asked_.push_back((timers_.Now() - absl::UnixEpoch()) / absl::Seconds(1));
  }
  void StopAsking(const wire::IpAddress& /*address*/) override {}
};

TEST_F(NeighborTableTest, RepeatsAreSpacedOutAndEndWithTheQuestion) {
  const auto question = Resolve(1, absl::Seconds(65));
  timers_.RunFor(absl::Seconds(200));
  EXPECT_THAT(asked_, ElementsAre(0, 1, 2, 3, 5, 9, 17, 33, 49));
  EXPECT_EQ(question->code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(timers_.idle());
}

TEST_F(NeighborTableTest, WhoComesLaterDoesNotWaitForALongPause) {
  const auto first = Resolve(1, absl::Seconds(30));
  timers_.RunFor(absl::Seconds(20));
  asked_.clear();
  const auto second = Resolve(1, absl::Seconds(4));
  const auto third = Resolve(1, absl::Seconds(4));
  timers_.RunFor(absl::Seconds(5));
  EXPECT_THAT(asked_, ElementsAre(20, 21, 22, 23, 25));
}

TEST_F(NeighborTableTest, ManyWhoAskForOneNeighbourAreOneQuestionASecond) {
  std::vector<std::unique_ptr<Question>> questions;
  for (int i = 0; i < 30; ++i) {
    questions.push_back(Resolve(1, absl::Seconds(10)));
    timers_.RunFor(absl::Milliseconds(100));
  }
  EXPECT_THAT(asked_, ElementsAre(0, 1, 2, 3));
}

TEST_F(NeighborTableTest, ARestartAsksAllQuestionsAnew) {
  const auto question = Resolve(1, absl::Seconds(30));
  timers_.RunFor(absl::Seconds(20));
  asked_.clear();
  table_.AskAgain();
  timers_.RunFor(absl::Seconds(4));
  EXPECT_THAT(asked_, ElementsAre(20, 21, 22, 23));
}

TEST_F(NeighborTableTest, SoManyQuestionsAreOpenAndNoMore) {
  std::vector<std::unique_ptr<Question>> questions;
  for (uint32_t i = 0; i < NeighborTable::kMaxQuestions; ++i) {
    questions.push_back(Resolve(i, absl::Seconds(10)));
  }
  asked_.clear();
  const auto refused = Resolve(5000, absl::Seconds(10));
  const auto shared = Resolve(7, absl::Seconds(10));
  timers_.RunPending();
  EXPECT_EQ(refused->code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(shared->answer.has_value());
  EXPECT_THAT(asked_, IsEmpty());
  questions.front().reset();
  const auto late = Resolve(5000, absl::Seconds(10));
  timers_.RunPending();
  EXPECT_FALSE(late->answer.has_value());
  EXPECT_THAT(asked_, SizeIs(1));
}

}  // namespace
}  // namespace ibemu::ipoib
