#include "daemon/why/lint_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/daemon/method_caller.h"
#include "tests/daemon/why/lab_diagnosis.h"
#include "tests/fabric/verbs_pair.h"

namespace ibemu::daemon {
namespace {

using testing::VerbsEnd;

// Two hosts, host-1 and host-2, whose queue pairs have number 2.
class LintMethodsTest : public fabric::VerbsPair, protected MethodCaller {
 protected:
  LintMethodsTest() { methods_.AddTo(dispatcher); }

  json Findings(const char* node, int64_t since = 0) {
    return Result("queue_pair.lint",
                  {{"node", node}, {"since_ns", since}})["findings"];
  }

  const LabDiagnosis why_{lab_};
  cuse::UverbsFiles files_;
  const EndedContexts contexts_{lab_.timers, files_};
  LintMethods methods_{lab_.timers, lab_.fabric, why_.diagnosis, contexts_};
};

TEST_F(LintMethodsTest, AConnectionThatWouldDoHasNoFinding) {
  Connect(verbs::QpType::kRc);
  EXPECT_TRUE(Findings("host-1").empty());
  EXPECT_TRUE(Findings("host-2").empty());
}

TEST_F(LintMethodsTest, TheEndsOfAConnectionAreCompared) {
  a_ = End(lab_.Host(1), verbs::QpType::kRc);
  b_ = End(lab_.Host(2), verbs::QpType::kRc);
  auto to_b = VerbsEnd::Towards(*b_);
  to_b.path_mtu = 4;
  a_->Connect(to_b);
  EXPECT_TRUE(Findings("host-1").empty()) << "the peer is not set up yet";
  b_->Connect(VerbsEnd::Towards(*a_));
  const json findings = Findings("host-1");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0]["rule"], "mtu-differs");
  EXPECT_TRUE(Findings("host-2").empty()) << "it sends the shorter packets";
}

TEST_F(LintMethodsTest, WhatAQueuePairDidIsToldWhenItHasEnded) {
  Connect(verbs::QpType::kRc);
  const auto process = a_->memory->process();
  ASSERT_TRUE(a_->Send(0, 10, 77).ok());  // nobody receives
  Settle();
  b_->Forget();
  const json findings = Findings("host-2");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0]["node"], "host-2");
  EXPECT_EQ(findings[0]["qpn"], 2);
  EXPECT_NE(findings[0]["pid"], process);
  EXPECT_EQ(findings[0]["rule"], "late-receive");
  EXPECT_TRUE(Findings("host-1").empty());
  const int64_t now =
      Result("queue_pair.lint", {{"node", "host-2"}})["now_ns"].get<int64_t>();
  EXPECT_TRUE(Findings("host-2", now + 1).empty());
  EXPECT_EQ(Error("queue_pair.lint", {{"node", "host-9"}}),
            "no node \"host-9\": did you mean \"host-1\"?");
}

TEST_F(LintMethodsTest, ASendQueueThatOnlyFillsIsTold) {
  VerbsEnd::Options options;
  options.signal_all = false;
  options.capacity.send_requests = 4;
  const auto connect = [&] {
    a_ = std::make_unique<VerbsEnd>(
        lab_.timers, lab_.fabric.provider(lab_.Host(1)), options);
    b_ = End(lab_.Host(2), verbs::QpType::kRc);
    VerbsEnd::Join(*a_, *b_);
  };
  connect();
  for (uint64_t id = 0; id < 3; ++id) {
    ASSERT_TRUE(b_->Receive(0, 10, id).ok());
    ASSERT_TRUE(a_->Send(0, 10, id).ok());
  }
  Settle();
  // That it is emptied in the error state changes nothing.
  a_->Modify({}, verbs::QpState::kError);
  a_->Forget();
  const json findings = Findings("host-1");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0]["rule"], "never-signaled");
  const int64_t now =
      Result("queue_pair.lint", {{"node", "host-1"}})["now_ns"].get<int64_t>();
  b_.reset();
  Settle();
  connect();
  for (uint64_t id = 0; id < 3; ++id) {
    ASSERT_TRUE(b_->Receive(0, 10, id).ok());
    verbs::SendRequest request = a_->Request(IB_UVERBS_WR_SEND, 0, 10, id);
    if (id == 0) request.work.send_flags = verbs::send_flag::kSignaled;
    ASSERT_TRUE(a_->Post(std::move(request)).ok());
  }
  Settle();
  a_->Forget();
  EXPECT_TRUE(Findings("host-1", now + 1).empty());
}

TEST_F(LintMethodsTest, ACompletionQueueThatNobodyPollsIsTold) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(a_->cq->Resize(3).ok());
  for (uint64_t id = 0; id < 2; ++id) {
    ASSERT_TRUE(b_->Receive(0, 10, id).ok());
    ASSERT_TRUE(a_->Send(0, 10, id).ok());
  }
  Settle();
  a_->Forget();
  std::set<std::string> rules;
  for (const json& one : Findings("host-1")) rules.insert(one["rule"]);
  EXPECT_TRUE(rules.contains("never-polled"));
}

}  // namespace
}  // namespace ibemu::daemon
