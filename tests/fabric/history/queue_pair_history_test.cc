#include "fabric/history/queue_pair_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fabric/history/queue_pair_histories.h"
#include "testing/virtual_timers.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre, ::testing::SizeIs;
using Kind = Incident::Kind;

class QueuePairHistoryTest : public ::testing::Test {
 protected:
  testing::VirtualTimers timers_;
  QueuePairHistory history_{timers_};
};

TEST_F(QueuePairHistoryTest, CountsWhatHappensAgainWithItsFirstAndLastTime) {
  const absl::Time start = timers_.Now();
  for (int i = 0; i < 3; ++i) {
    timers_.RunFor(absl::Milliseconds(10));
    history_.Note(Kind::kSentAgain, 5, "no answer", absl::Milliseconds(10));
    history_.NoteDrop(5, {.port = PortId{1}, .cause = DropCause::kLinkDown});
  }
  ASSERT_THAT(history_.incidents(), SizeIs(2));
  const Incident& again = history_.incidents().front();
  EXPECT_EQ(again.count, 3u);
  EXPECT_EQ(again.first, start);
  EXPECT_EQ(again.last, start + absl::Milliseconds(30));
  EXPECT_EQ(history_.incidents().back().count, 3u);
}

TEST_F(QueuePairHistoryTest, TellsApartWhatDiffersInPsnTextOrPlace) {
  history_.Note(Kind::kNotTaken, 5, "a");
  history_.Note(Kind::kNotTaken, 6, "a");
  history_.Note(Kind::kNotTaken, 6, "b");
  history_.NoteDrop(6, {.port = PortId{1}, .cause = DropCause::kLinkDown});
  history_.NoteDrop(6, {.port = PortId{2}, .cause = DropCause::kLinkDown});
  EXPECT_THAT(history_.incidents(), SizeIs(5));
}

TEST_F(QueuePairHistoryTest, OfDroppedAndLatePacketsOnlyThePlaceCounts) {
  for (const uint32_t psn : {6, 8}) {
    history_.NoteDrop(psn, {.port = PortId{1}, .cause = DropCause::kLinkDown});
    history_.NoteDelay(psn, {.port = PortId{1}, .fault = 3});
  }
  history_.NoteDelay(9, {.port = PortId{1}, .fault = 4});
  ASSERT_THAT(history_.incidents(), SizeIs(3));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(history_.incidents()[i].psn, 8u);
    EXPECT_EQ(history_.incidents()[i].count, 2u);
  }
}

TEST_F(QueuePairHistoryTest, KeepsEachChangeOfState) {
  for (int i = 0; i < 2; ++i) {
    history_.Note(Kind::kState, 0, "RESET to INIT");
    history_.Note(Kind::kState, 0, "INIT to RESET");
  }
  EXPECT_THAT(history_.incidents(), SizeIs(4));
}

TEST_F(QueuePairHistoryTest, ForgetsTheOldestWhenItIsFull) {
  for (uint32_t psn = 0; psn <= QueuePairHistory::kMax; ++psn) {
    history_.Note(Kind::kNotTaken, psn, "");
  }
  EXPECT_THAT(history_.incidents(), SizeIs(QueuePairHistory::kMax));
  EXPECT_EQ(history_.incidents().front().psn, 1u);
}

TEST_F(QueuePairHistoryTest, KeepsStatesLongest) {
  history_.Note(Kind::kState, 0, "INIT to RTR");
  for (uint32_t psn = 0; psn <= QueuePairHistory::kMax; ++psn) {
    history_.Note(Kind::kNotTaken, psn, "");
  }
  EXPECT_THAT(history_.incidents(), SizeIs(QueuePairHistory::kMax));
  EXPECT_EQ(history_.incidents().front().text, "INIT to RTR");
  for (size_t i = 0; i <= QueuePairHistory::kMax; ++i) {
    history_.Note(Kind::kState, 0, "again");
  }
  EXPECT_THAT(history_.incidents(), SizeIs(QueuePairHistory::kMax));
}

TEST_F(QueuePairHistoryTest, KeepsTheFirstFailureUntilTheQueuePairIsReset) {
  history_.NoteFailure(
      {.id = 1, .status = verbs::wc_status::kRetriesExceeded, .what = "SEND"});
  history_.NoteFailure({.id = 2, .status = verbs::wc_status::kFlushed});
  ASSERT_TRUE(history_.failure());
  EXPECT_EQ(history_.failure()->id, 1u);
  EXPECT_EQ(history_.incidents().front().text,
            "work request 1 (SEND): RETRY_EXC_ERR");
  history_.Restart();
  EXPECT_FALSE(history_.failure());
}

TEST_F(QueuePairHistoryTest, FindsTheLatestThatWasNotOverBefore) {
  history_.Note(Kind::kDenied, 1, "long ago");
  timers_.RunFor(absl::Seconds(1));
  const absl::Time later = timers_.Now();
  EXPECT_EQ(history_.Latest(Kind::kDenied, later), nullptr);
  history_.Note(Kind::kDenied, 2, "now");
  ASSERT_NE(history_.Latest(Kind::kDenied, later), nullptr);
  EXPECT_EQ(history_.Latest(Kind::kDenied, absl::InfinitePast())->text, "now");
}

TEST_F(QueuePairHistoryTest, FindsWhatAPsnHasSinceTheLastReset) {
  history_.Note(Kind::kDenied, 1, "before");
  timers_.RunFor(absl::Seconds(1));
  history_.Restart();
  EXPECT_EQ(history_.LatestOf(Kind::kDenied, 1), nullptr);
  history_.Note(Kind::kDenied, 1, "now");
  history_.Note(Kind::kDenied, 2, "another");
  history_.Note(Kind::kRefused, 1, "of another kind");
  ASSERT_NE(history_.LatestOf(Kind::kDenied, 1), nullptr);
  EXPECT_EQ(history_.LatestOf(Kind::kDenied, 1)->text, "now");
  EXPECT_EQ(history_.LatestOf(Kind::kFault, 1), nullptr);
}

class QueuePairHistoriesTest : public ::testing::Test {
 protected:
  std::vector<uint32_t> Numbers() const {
    std::vector<uint32_t> numbers;
    histories_.ForEach(
        kNode, [&](topology::NodeId, uint32_t qpn, bool,
                   const QueuePairHistory&) { numbers.push_back(qpn); });
    return numbers;
  }

  static constexpr topology::NodeId kNode{7};
  testing::VirtualTimers timers_;
  QueuePairHistories histories_{timers_};
};

TEST_F(QueuePairHistoriesTest, ThoseThatExistComeFirstThenThoseThatFailed) {
  const auto well = histories_.Begin(kNode, 3);
  const auto badly = histories_.Begin(kNode, 4);
  const auto present = histories_.Begin(kNode, 5);
  histories_.Begin(topology::NodeId{8}, 6);
  badly->NoteFailure({.id = 1, .status = verbs::wc_status::kRemoteAccess});
  histories_.End(kNode, 3, well);
  histories_.End(kNode, 4, badly);
  EXPECT_THAT(Numbers(), ElementsAre(5, 4, 3));
  EXPECT_EQ(histories_.Find(kNode, 4), badly.get());
  EXPECT_FALSE(histories_.Exists(kNode, 4));
  EXPECT_TRUE(histories_.Exists(kNode, 5));
}

TEST_F(QueuePairHistoriesTest, TheLatestOfANumberIsFound) {
  const auto first = histories_.Begin(kNode, 3);
  histories_.End(kNode, 3, first);
  timers_.RunFor(absl::Seconds(1));
  const auto second = histories_.Begin(kNode, 3);
  EXPECT_EQ(histories_.Find(kNode, 3), second.get());
  histories_.End(kNode, 3, second);
  EXPECT_EQ(histories_.Find(kNode, 3), second.get());
}

TEST_F(QueuePairHistoriesTest, ThoseOfAProcessAreOnAllNodes) {
  constexpr topology::NodeId kOther{6};
  constexpr uint64_t kProcess = 4711;
  const auto ended = histories_.Begin(kNode, 3, kProcess);
  const auto here = histories_.Begin(kNode, 4, kProcess);
  const auto there = histories_.Begin(kOther, 3, kProcess);
  const auto foreign = histories_.Begin(kNode, 5, kProcess + 1);
  histories_.End(kNode, 3, ended);
  std::vector<const QueuePairHistory*> found;
  histories_.ForEachOf(kProcess, [&](topology::NodeId, uint32_t, bool,
                                     const QueuePairHistory& history) {
    found.push_back(&history);
  });
  EXPECT_THAT(found, ElementsAre(there.get(), here.get(), ended.get()));
}

// Its adapter was pulled out, and the new one counts from the same number.
TEST_F(QueuePairHistoriesTest, AnotherOfTheSameNumberMayBeginBeforeOneEnds) {
  const auto old = histories_.Begin(kNode, 3);
  const auto fresh = histories_.Begin(kNode, 3);
  std::vector<const QueuePairHistory*> failed;
  histories_.SetIncidentListener(
      [&](topology::NodeId, uint32_t, const QueuePairHistory& history,
          const Incident&) { failed.push_back(&history); });
  old->NoteFailure({.status = verbs::wc_status::kFlushed});
  EXPECT_THAT(failed, ElementsAre(old.get()));
  histories_.End(kNode, 3, old);
  EXPECT_TRUE(histories_.Exists(kNode, 3));
  EXPECT_EQ(histories_.Find(kNode, 3), fresh.get());
}

TEST_F(QueuePairHistoriesTest, TheSameAgainAndFurtherFailuresAreNotTold) {
  const auto history = histories_.Begin(kNode, 3);
  std::vector<std::string> told;
  histories_.SetIncidentListener([&](topology::NodeId node, uint32_t qpn,
                                     const QueuePairHistory&,
                                     const Incident& incident) {
    EXPECT_EQ(node, kNode);
    EXPECT_EQ(qpn, 3u);
    told.push_back(incident.text);
  });
  for (int i = 0; i < 2; ++i) {
    history->Note(Incident::Kind::kSentAgain, 7, "no answer");
    history->Note(Incident::Kind::kState, 0, "RTR to RTS");
    history->NoteFailure({.id = 4 + static_cast<uint64_t>(i),
                          .status = verbs::wc_status::kFlushed,
                          .what = "SEND"});
  }
  histories_.End(kNode, 3, history);
  EXPECT_THAT(told, ElementsAre("no answer", "RTR to RTS",
                                "work request 4 (SEND): WR_FLUSH_ERR",
                                "RTR to RTS", "destroyed"));
}

TEST_F(QueuePairHistoriesTest, OldOnesThatEndedAreForgotten) {
  for (uint32_t qpn = 2; qpn < 3 + QueuePairHistories::kMaxEnded; ++qpn) {
    histories_.End(kNode, qpn, histories_.Begin(kNode, qpn));
  }
  EXPECT_THAT(Numbers(), SizeIs(QueuePairHistories::kMaxEnded));
  EXPECT_EQ(histories_.Find(kNode, 2), nullptr);
}

}  // namespace
}  // namespace ibemu::fabric
