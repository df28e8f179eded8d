#include "daemon/why/why_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "mad/host.h"
#include "nlohmann/json.hpp"
#include "testing/mad_builder.h"
#include "tests/daemon/event_recorder.h"
#include "tests/daemon/uverbs_programs.h"
#include "tests/daemon/why/lab_diagnosis.h"
#include "tests/fabric/verbs_pair.h"

namespace ibemu::daemon {
namespace {

using fabric::VerbsEnd;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty, ::testing::SizeIs;

// A listener that wants no details, as the page is one.
struct NewsRecorder : EventRecorder {
  bool WantsDetails() const override { return false; }
};

class WhyEventsTest : public fabric::VerbsPair, protected mad::AgentClient {
 protected:
  void SendInVain() {
    ASSERT_TRUE(a_->Send(0, 10, 77).ok());
    Settle();
    ASSERT_THAT(a_->PollStatuses(), SizeIs(1));
  }
  // What is told of host-1's queue pair as "qp": "state: RTR to RTS", and the
  // reason of a failure.
  std::vector<std::string> Told() {
    std::vector<std::string> texts;
    for (const json& event : recorder_.Of("qp")) {
      if (event["node"] != "host-1") continue;
      EXPECT_EQ(event["qpn"], 2);
      const auto kind = event["kind"].get<std::string>();
      texts.push_back(
          kind + ": " +
          event[kind == "failed" ? "why" : "text"].get<std::string>());
    }
    return texts;
  }
  void OnMad(mad::Agent&, mad::IncomingMessage) override {}
  void OnSendDone(mad::Agent&, uint64_t) override {}
  void OnSendTimeout(mad::Agent&, uint64_t) override {}

  static constexpr char kWhy[] =
      "host-1 queue pair 0x2: work request 77 (SEND) ended with "
      "RNR_RETRY_EXC_ERR: host-2 queue pair 0x2 had no receive request at 4 "
      "tries of PSN 0xfffffe in 1.92ms";

  FabricEventLog log_{lab_.timers, lab_.fabric, absl::ZeroDuration()};
  control::MethodTable dispatcher_;
  LabWhy why_{lab_, dispatcher_};
  WhyEvents events_{lab_.fabric, log_, why_.diagnosis, *why_.mads, *why_.calls};
  EventRecorder recorder_;
};

TEST_F(WhyEventsTest, TellsWhatHappensToAQueuePairInOrder) {
  log_.Add(recorder_);
  Connect(verbs::QpType::kRc);
  SendInVain();
  a_.reset();
  EXPECT_THAT(
      Told(),
      ElementsAre("state: RESET to INIT, by the program",
                  "state: INIT to RTR, by the program",
                  "state: RTR to RTS, by the program",
                  "not-ready: the peer had no receive request: again in 640us",
                  "failed: " + std::string(kWhy),
                  "state: RTS to ERR, as a work request failed",
                  "state: destroyed"));
}

TEST_F(WhyEventsTest, TheFirstRequestOfAQueuePairThatFailsIsToldToEverybody) {
  NewsRecorder news;
  log_.Add(news);
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(a_->Send(0, 10, 77).ok());
  ASSERT_TRUE(a_->Send(0, 10, 78).ok());
  Settle();
  EXPECT_EQ(news.Of("qp"), json::array({{{"node", "host-1"},
                                         {"qpn", 2},
                                         {"kind", "failed"},
                                         {"psn", 0xfffffe},
                                         {"wr_id", 77},
                                         {"status", "RNR_RETRY_EXC_ERR"},
                                         {"why", kWhy}}}));
}

TEST_F(WhyEventsTest, AQueuePairThatWasResetMayFailAnew) {
  NewsRecorder news;
  log_.Add(news);
  Connect(verbs::QpType::kRc);
  SendInVain();
  for (VerbsEnd* const end : {a_.get(), b_.get()}) {
    end->Modify({}, verbs::QpState::kReset);
  }
  VerbsEnd::Join(*a_, *b_);
  SendInVain();
  EXPECT_THAT(news.Of("qp"), SizeIs(2));
}

TEST_F(WhyEventsTest, OfWhatArrivesNothingIsTold) {
  Connect(verbs::QpType::kRc);
  log_.Add(recorder_);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  SendInVain();
  EXPECT_THAT(recorder_.events, IsEmpty());
}

TEST_F(WhyEventsTest, AMadThatNobodyAnswersIsADetail) {
  NewsRecorder news;
  log_.Add(news);
  log_.Add(recorder_);
  const std::shared_ptr<mad::Host> host =
      why_.hosts.Get(*why_.adapters.Find("host-1"));
  const auto agent = host->Register(1, {.qp = 1}, *this).value();
  const mad::Outgoing get =
      testing::LidGet(1, mad::MgmtClass::kPerformance, wire::Lid{9},
                      mad::AttributeId::kClassPortInfo);
  ASSERT_TRUE(agent
                  ->Send({.to = get.to,
                          .mad = {get.mad.begin(), get.mad.end()},
                          .timeout = absl::Milliseconds(100),
                          .retries = 2})
                  .ok());
  lab_.timers.RunFor(absl::Milliseconds(301));
  EXPECT_EQ(recorder_.Of("mad"),
            json::array({{{"node", "host-1"},
                          {"port", 1},
                          {"tries", 3},
                          {"why",
                           "host-1 port 1: PM Get(ClassPortInfo) to LID 9: 3 "
                           "tries in 300ms, none answered: dropped at sw1/1: "
                           "no forwarding entry leads to its LID (3 "
                           "times)"}}}));
  EXPECT_THAT(news.events, IsEmpty());
}

class CallEventsTest : public UverbsProgramsTest {
 protected:
  FabricEventLog log_{lab_.timers, lab_.fabric, absl::ZeroDuration()};
  control::MethodTable dispatcher_;
  LabWhy why_{lab_, dispatcher_};
  RefusedCalls calls_{lab_.timers, files_};
  WhyEvents events_{lab_.fabric, log_, why_.diagnosis, *why_.mads, calls_};
  EventRecorder recorder_;
};

TEST_F(CallEventsTest, ACallThatIsRefusedIsToldOnce) {
  log_.Add(recorder_);
  UverbsProgram& program = Open("host-2");
  program.CreateCqInVain(0);
  program.CreateCqInVain(0);
  const std::string who = "host-2 process " + std::to_string(getpid());
  EXPECT_EQ(
      recorder_.Of("call"),
      json::array({{{"node", "host-2"},
                    {"pid", getpid()},
                    {"why", who + ": CREATE_CQ was refused with EINVAL: "
                                  "cqe is 0: there may be 1 to 196607"}}}));
}

}  // namespace
}  // namespace ibemu::daemon
