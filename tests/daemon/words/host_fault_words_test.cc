#include "daemon/words/host_fault_words.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/daemon/words/fault_line.h"

namespace ibemu::daemon {
namespace {

TEST(HostFaultWordsTest, ACallFails) {
  const auto fault = ParseFaultLine("host node-3 reg-mr nth 2 errno EAGAIN");
  ASSERT_TRUE(fault.ok()) << fault.status();
  EXPECT_EQ(fault->place, FaultRequest::Place::kHost);
  EXPECT_EQ(fault->port.node, "node-3");
  EXPECT_EQ(*fault->resource,
            (fabric::ResourceFault{.call = fabric::ResourceCall::kRegMr,
                                   .error = absl::StatusCode::kDeadlineExceeded,
                                   .window = {.first = 2, .last = 2}}));
}

TEST(HostFaultWordsTest, AnEventHasAPortUnlessItIsOfTheDevice) {
  const auto fault = ParseFaultLine("host node-3 event sm-change port 2");
  ASSERT_TRUE(fault.ok()) << fault.status();
  EXPECT_EQ(fault->act, FaultAct::kEvent);
  EXPECT_EQ(fault->event, verbs::AsyncEventType::kSmChange);
  EXPECT_EQ(fault->event_port, 2);
  EXPECT_EQ(ParseFaultLine("host a event lid-change")->event_port, 1);
  EXPECT_EQ(ParseFaultLine("host a event device-fatal")->event_port, 0);
}

TEST(HostFaultWordsTest, AFaultWhoseTextIsReadAgainIsTheSame) {
  for (const char* text :
       {"create-qp errno ENOMEM", "create-srq nth 2-4 errno EINVAL",
        "alloc-pd nth 3 errno EAGAIN", "event port-error port 1",
        "event device-fatal", "reg-mr nth 2 delay 20ms",
        "completion-event loss nth 3-", "async-event delay 1.5ms nth 1"}) {
    const auto fault = ParseFaultLine(absl::StrCat("host a ", text));
    ASSERT_TRUE(fault.ok()) << fault.status();
    EXPECT_EQ(FaultText(*fault), text);
  }
}

TEST(HostFaultWordsTest, EachMistakeIsOneSentence) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"host", "\"host\" needs one: write host NODE"},
      {"host a",
       "nothing goes wrong: add a call, as in create-qp, or event NAME"},
      {"host a creat-qp",
       "\"creat-qp\" is no fault of a host: there are alloc-pd, reg-mr, "
       "create-cq, create-qp, create-srq, create-ah, event, "
       "completion-event and async-event: did you mean \"create-qp\"?"},
      {"host a create-qp delay 1ms",
       "delay is for reg-mr: other calls are answered at once"},
      {"host a reg-mr delay 1ms errno EAGAIN",
       "delay and errno are two faults: add each by itself"},
      {"host a reg-mr delay 0s", "delay 0s: nothing goes wrong"},
      {"host a async-event", "async-event \"\": write loss, or delay TIME"},
      {"host a async-event los",
       "async-event \"los\": write loss, or delay TIME: did you mean "
       "\"loss\"?"},
      {"host a completion-event delay 0ms", "delay 0s: nothing goes wrong"},
      {"host a completion-event loss port 1", "\"port\" is no word here"},
      {"host a reg-mr errno EPERM",
       "errno \"EPERM\": there are ENOMEM, EINVAL and EAGAIN"},
      {"host a reg-mr nth x",
       "nth \"x\": write which, counted from 1, as in 3, 3-5 or 3-"},
      {"host a reg-mr nth 1 nth 2", "\"nth\" is there twice"},
      {"host a reg-mr seed 1", "\"seed\" is no word here"},
      {"host a event port-eror",
       "event \"port-eror\": there are port-active, port-error, lid-change, "
       "gid-change, pkey-change, sm-change, client-reregister and "
       "device-fatal: did you mean \"port-error\"?"},
      {"host a event port-error prot 1",
       "\"prot\" is no word here: did you mean \"port\"?"},
      {"host a event port-error port",
       "port \"\": write a number from 1 to 0xfe"},
      {"host a event port-error port 0",
       "port \"0\": write a number from 1 to 0xfe"},
      {"host a event device-fatal port 1",
       "device-fatal is of no port: leave out port"},
  };
  for (const auto& [line, sentence] : mistakes) {
    EXPECT_EQ(ParseFaultLine(line).status().message(), sentence) << line;
  }
}

}  // namespace
}  // namespace ibemu::daemon
