#include "daemon/words/process_fault_words.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/daemon/words/fault_line.h"

namespace ibemu::daemon {
namespace {

TEST(ProcessFaultWordsTest, AProcessHasTheFaultsOfQueuePairsAndOfHosts) {
  const auto packets = ParseFaultLine("process 4711 loss opcode ack nth 1");
  ASSERT_TRUE(packets.ok()) << packets.status();
  EXPECT_EQ(packets->place, FaultRequest::Place::kProcess);
  EXPECT_EQ(packets->process, 4711u);
  EXPECT_EQ(packets->qpn, std::nullopt);
  EXPECT_EQ(packets->faults.loss, 1);
  const auto call = ParseFaultLine("process 1 create-qp nth 2");
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->place, FaultRequest::Place::kProcess);
  EXPECT_EQ(call->resource->call, fabric::ResourceCall::kCreateQp);
}

TEST(ProcessFaultWordsTest, AFaultWhoseTextIsReadAgainIsTheSame) {
  for (const char* text :
       {"loss 5% opcode ack", "rnr 2s", "completion loss nth 3", "error",
        "create-srq nth 2-4 errno EINVAL", "reg-mr delay 20ms",
        "completion-event loss nth 3-", "async-event delay 1.5ms nth 1"}) {
    const auto fault = ParseFaultLine(absl::StrCat("process 7 ", text));
    ASSERT_TRUE(fault.ok()) << fault.status();
    EXPECT_EQ(FaultText(*fault), text);
  }
}

TEST(ProcessFaultWordsTest, EachMistakeIsOneSentence) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"process", "\"process\" needs one: write process PID"},
      {"process 0 loss", "process \"0\": write a number from 1 to 0x400000"},
      {"process node-1 loss",
       "process \"node-1\": write a number from 1 to 0x400000"},
      {"process 7",
       "nothing goes wrong: add loss, corrupt, duplicate, reorder, delay, rnr, "
       "completion, error or sqe"},
      {"process 7 event port-error",
       "an event is one of a host: write host NODE event NAME"},
      {"process 7 los",
       "\"los\" is no fault of a queue pair: did you mean \"loss\"?"},
      {"process 7 create-qp loss", "\"loss\" is no word here"},
  };
  for (const auto& [line, sentence] : mistakes) {
    EXPECT_EQ(ParseFaultLine(line).status().message(), sentence) << line;
  }
}

}  // namespace
}  // namespace ibemu::daemon
