// The same scenario with the same seed is the same, to the last bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/capture/link_capture.h"
#include "daemon/events/fabric_event_log.h"
#include "daemon/scenario/scenario_methods.h"
#include "daemon/subnet/fabric_methods.h"
#include "daemon/subnet/fault_methods.h"
#include "daemon/why/why_events.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "testing/socket_pair.h"
#include "testing/verbs_end.h"
#include "tests/daemon/connection.h"
#include "tests/daemon/event_recorder.h"
#include "tests/daemon/virtual_loop.h"
#include "tests/daemon/why/lab_diagnosis.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using testing::LidGet;

constexpr char kScenario[] = R"(
steps:
  - at: 100ms
    do:
      - fault add link host-1/1 loss 5% duplicate 5% delay 20us 10us
      - fault add link sw1/2 corrupt 2% ber 1e-6
      - fault add node host-2 slow 2ms 1ms
  - at: 150ms
    do:
      - fault add qp host-1/* loss 10% duplicate 10% opcode send
      - fault add qp host-2/* delay 50us 50us opcode ack
      - fault add qp host-2/* rnr nth 4
      - fault add qp host-1/* completion delay 1ms dir tx nth 5-8
      - fault add host host-2 async-event delay 1ms
  - {at: 300ms, do: fault add --name=shaky link host-2/1 flap 200ms 5ms 50ms}
  - {at: 400ms, every: 100ms, repeat: 3, do: link host-1/1 down --for=1ms}
  - {at: 1s, do: fault rm shaky}
  - {at: 1s, do: fault add link host-1/1 loss 50% attr NodeInfo}
  - {at: 1100ms, do: node host-2 down}
  - {at: 1200ms, do: node host-2 up}
  - {at: 1500ms, do: fault reset}
)";

// Two hosts that talk: MADs, and messages of a reliable connection.
class Replay {
 public:
  Replay(uint64_t fabric_seed, int64_t scenario_seed)
      : lab_(testing::Chain(1), testing::Lab::kStatically, fabric_seed) {
    changes_.AddTo(dispatcher_);
    faults_.AddTo(dispatcher_);
    scenarios_.AddTo(dispatcher_);
    log_.Add(told_);
    Connect(a_, b_);
    Connect(b_, a_);
    Start(scenario_seed);
  }

  // What was captured, byte by byte, and what was told.
  std::string Play() {
    for (int round = 0; round < 400; ++round) {
      lab_.Transmit(1, LidGet(0, mad::MgmtClass::kSubnetLidRouted, wire::Lid{2},
                              mad::AttributeId::kNodeInfo));
      if (round % 4 == 0) {
        // A connection that has given up takes no more.
        b_.Receive(0, 8192).IgnoreError();
        a_.Send(0, 5000).IgnoreError();
      }
      lab_.timers.RunFor(absl::Milliseconds(5));
      Read();
      for (const uint32_t status : a_.PollStatuses()) {
        if (status == 0) ++delivered_;
      }
      b_.Poll();
    }
    EXPECT_GT(delivered_, 5);
    EXPECT_EQ(failures_, 0);
    EXPECT_GT(told_.Of("qp").size(), 10u);
    for (const json& event : told_.events) captured_ += event.dump();
    return std::move(captured_);
  }

 private:
  static void Connect(testing::VerbsEnd& end, const testing::VerbsEnd& peer) {
    verbs::QpAttributes to = testing::VerbsEnd::Towards(peer);
    to.timeout = 14;  // 67 ms: a link is down for up to 50
    end.Connect(to);
  }

  UniqueFd Pair(UniqueFd& ours) {
    UniqueFd theirs;
    std::tie(ours, theirs) = testing::SocketPair();
    return theirs;
  }

  void Start(int64_t seed) {
    capture_ =
        std::make_unique<LinkCapture>(loop_, lab_.fabric, LinkCapture::Ports{},
                                      Pair(packets_), CaptureStream::Options{});
    EXPECT_TRUE(capture_->Start().ok());
    topology::FaultList faults;
    ScenarioPlan plan = ParseScenario(kScenario, "replay.yaml", faults);
    EXPECT_TRUE(faults.ToStatus().ok()) << faults.ToStatus();
    plan.seed = seed;
    connection_.descriptor = Pair(steps_);
    const json request = {
        {"id", 1}, {"method", "scenario.run"}, {"params", DescribePlan(plan)}};
    const json answer =
        json::parse(dispatcher_.Handle(request.dump(), connection_));
    EXPECT_TRUE(answer.contains("result")) << answer;
  }

  void Read() {
    loop_.Poll();
    std::vector<char> bytes(1 << 15);
    ssize_t size;
    while ((size = recv(packets_.get(), bytes.data(), bytes.size(),
                        MSG_DONTWAIT)) > 0) {
      captured_.append(bytes.data(), static_cast<size_t>(size));
      loop_.Poll();
    }
    size = recv(steps_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size <= 0) return;
    const std::string told(bytes.data(), static_cast<size_t>(size));
    if (told.find("failed") != told.npos) ++failures_;
  }

  testing::Lab lab_;
  VirtualLoop loop_{lab_.timers};
  FabricEventLog log_{lab_.timers, lab_.fabric, absl::ZeroDuration()};
  FabricMethods changes_{lab_.timers, lab_.fabric};
  FaultMethods faults_{lab_.timers, lab_.fabric, log_};
  control::MethodTable dispatcher_;
  LabWhy why_{lab_, dispatcher_};
  const WhyEvents why_events_{lab_.fabric, log_, why_.diagnosis, *why_.mads,
                              *why_.calls};
  EventRecorder told_;
  ScenarioMethods scenarios_{loop_, lab_.fabric, faults_, log_, dispatcher_};
  testing::VerbsEnd a_{lab_.timers, lab_.Provider(1), {}};
  testing::VerbsEnd b_{lab_.timers, lab_.Provider(2), {}};
  std::unique_ptr<LinkCapture> capture_;
  UniqueFd packets_, steps_;
  Connection connection_;
  std::string captured_;
  int failures_ = 0;   // of the scenario
  int delivered_ = 0;  // messages
};

TEST(ScenarioReplayTest, TenRunsWithOneSeedAreTheSameByteByByte) {
  const std::string first = Replay(1, 7).Play();
  ASSERT_GT(first.size(), 300'000u);
  for (int run = 1; run < 10; ++run) {
    EXPECT_TRUE(Replay(1, 7).Play() == first) << "run " << run;
  }
}

TEST(ScenarioReplayTest, AnotherSeedOfTheScenarioIsAnotherRun) {
  EXPECT_FALSE(Replay(1, 7).Play() == Replay(1, 8).Play());
}

TEST(ScenarioReplayTest, ASeedOfTheScenarioDecidesWhateverThatOfTheFabric) {
  EXPECT_TRUE(Replay(1, 7).Play() == Replay(2, 7).Play());
}

}  // namespace
}  // namespace ibemu::daemon
