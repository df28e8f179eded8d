#include "daemon/words/queue_pair_fault_words.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/daemon/words/fault_line.h"
#include "verbs/wc_status.h"

namespace ibemu::daemon {
namespace {

TEST(QueuePairFaultWordsTest, APlaceIsANodeAndANumberOrAllOfTheNode) {
  const auto one = ParseFaultLine("qp node-3/0x12 loss");
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->place, FaultRequest::Place::kQueuePair);
  EXPECT_EQ(one->port.node, "node-3");
  EXPECT_EQ(one->qpn, 0x12u);
  EXPECT_EQ(ParseFaultLine("qp a/b/18 loss")->port.node, "a/b");
  EXPECT_EQ(ParseFaultLine("qp node-3/18 loss")->qpn, 18u);
  EXPECT_EQ(ParseFaultLine("qp node-3/* loss")->qpn, std::nullopt);
}

TEST(QueuePairFaultWordsTest, WithoutAPercentageAllPacketsAreConcerned) {
  EXPECT_EQ(ParseFaultLine("qp a/2 loss")->faults.loss, 1);
  EXPECT_EQ(ParseFaultLine("qp a/2 loss 5% duplicate")->faults.loss, 0.05);
  EXPECT_EQ(ParseFaultLine("qp a/2 loss 5% duplicate")->faults.duplicate, 1);
}

TEST(QueuePairFaultWordsTest, WordsSelectPackets) {
  const auto fault = ParseFaultLine(
      "qp a/2 dir tx loss opcode rc-acknowledge psn 0x3a nth 2-4 seed 9");
  ASSERT_TRUE(fault.ok()) << fault.status();
  EXPECT_EQ(fault->faults.concerns.opcode,
            *fabric::ParseOpcodeFilter("rc-acknowledge"));
  EXPECT_EQ(fault->faults.concerns.psn, 0x3au);
  EXPECT_EQ(fault->faults.first, 2u);
  EXPECT_EQ(fault->faults.last, 4u);
  EXPECT_EQ(fault->seed, 9u);
  EXPECT_EQ(fault->direction, FaultDirection::kTransmit);
}

TEST(QueuePairFaultWordsTest, CompletionsHaveAStatusOrComeLateOrNever) {
  const auto failed = ParseFaultLine(
      "qp a/2 completion remote-access-error vendor-err 0x8a nth 3 dir rx");
  ASSERT_TRUE(failed.ok()) << failed.status();
  const fabric::WorkRequestFault& fault = *failed->requests;
  EXPECT_EQ(fault.completion.status, verbs::wc_status::kRemoteAccess);
  EXPECT_EQ(fault.completion.vendor_err, 0x8au);
  EXPECT_EQ(fault.window, (fabric::FaultWindow{.first = 3, .last = 3}));
  EXPECT_TRUE(fault.of_receives);
  EXPECT_FALSE(fault.of_sends);
  EXPECT_TRUE(
      ParseFaultLine("qp a/2 completion loss")->requests->completion.lost);
  EXPECT_EQ(
      ParseFaultLine("qp a/2 completion delay 5ms")->requests->completion.delay,
      absl::Milliseconds(5));
  EXPECT_TRUE(ParseFaultLine("qp a/2 rnr")->requests->not_ready);
  EXPECT_EQ(ParseFaultLine("qp a/2 rnr 2s")->requests->span, absl::Seconds(2));
}

TEST(QueuePairFaultWordsTest, AFaultWhoseTextIsReadAgainIsTheSame) {
  for (const char* text :
       {"loss 100% opcode ack nth 1", "loss 5% delay 10us 2us psn 0x3a",
        "corrupt 100% duplicate 100% nth 3-", "loss 0%", "rnr", "rnr 2s nth 2",
        "completion loss nth 2-5", "completion delay 5ms",
        "completion retry-exceeded-error vendor-err 0x81 nth 3", "error",
        "sqe"}) {
    const auto fault = ParseFaultLine(absl::StrCat("qp node-3/0x12 ", text));
    ASSERT_TRUE(fault.ok()) << fault.status();
    EXPECT_EQ(FaultText(*fault), text);
  }
}

TEST(QueuePairFaultWordsTest, EachMistakeIsOneSentence) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"qp",
       "\"qp\" needs a queue pair: write NODE/QPN, as in node-3/0x12, or "
       "NODE/* for all of the node"},
      {"qp node-3 loss",
       "\"node-3\" names no queue pair: write NODE/QPN, as in node-3/0x12, or "
       "NODE/* for all of the node"},
      {"qp node-3/0x1000000 loss",
       "\"node-3/0x1000000\" names no queue pair: write NODE/QPN, as in "
       "node-3/0x12, or NODE/* for all of the node"},
      {"qp a/2",
       "nothing goes wrong: add loss, corrupt, duplicate, reorder, delay, rnr, "
       "completion, error or sqe"},
      {"qp a/2 opcode ack",
       "nothing goes wrong: add loss, corrupt, duplicate, reorder, delay, rnr, "
       "completion, error or sqe"},
      {"qp a/2 drop", "\"drop\" is no fault of a queue pair"},
      {"qp a/2 los",
       "\"los\" is no fault of a queue pair: did you mean "
       "\"loss\"?"},
      {"qp a/2 loss 101%", "loss 101%: a percentage is from 0% to 100%"},
      {"qp a/2 loss nth 0",
       "nth \"0\": write which, counted from 1, as in 3, 3-5 or 3-"},
      {"qp a/2 loss nth 5-4",
       "nth \"5-4\": write which, counted from 1, as in 3, 3-5 or 3-"},
      {"qp a/2 loss nth",
       "nth \"\": write which, counted from 1, as in 3, 3-5 or 3-"},
      {"qp a/2 loss psn 0x1000000",
       "psn \"0x1000000\": write a number from 0 to 0xffffff"},
      {"qp a/2 loss dir up",
       "dir \"up\": there are tx (what the queue pair sends) and rx (what it "
       "receives)"},
      {"qp a/2 completion",
       "completion \"\": write loss, delay TIME, or an error as in "
       "remote-access-error"},
      {"qp a/2 completion remote-acces-error",
       "completion \"remote-acces-error\": write loss, delay TIME, or an error "
       "as in remote-access-error: did you mean \"remote-access-error\"?"},
      {"qp a/2 completion loss vendor-err 1",
       "vendor-err belongs to a completion with an error"},
      {"qp a/2 rnr completion loss",
       "rnr and completion are two faults: add each by itself"},
      {"qp a/2 rnr 0s", "rnr 0s: the receiver is not ready for up to 24h"},
      {"qp a/2 loss error",
       "packets, rnr, completion, error and sqe are faults of their own: add "
       "each by itself"},
      {"qp a/2 error sqe",
       "packets, rnr, completion, error and sqe are faults of their own: add "
       "each by itself"},
      {"qp a/2 rnr opcode ack",
       "opcode and psn select packets: add loss, delay ..."},
      {"qp a/2 rnr seed 4", "nothing here is left to chance: leave out seed"},
      {"qp a/2 error dir tx",
       "dir is for packets and completions: leave it out"},
      {"qp a/2 error nth 1", "error and sqe are entered now: leave out nth"},
      {"qp a/2 loss loss", "\"loss\" is there twice"},
  };
  for (const auto& [line, sentence] : mistakes) {
    EXPECT_EQ(ParseFaultLine(line).status().message(), sentence) << line;
  }
}

}  // namespace
}  // namespace ibemu::daemon
