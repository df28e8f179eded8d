#include "daemon/subnet/adapter_fault.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "daemon/events/fabric_event_log.h"
#include "daemon/subnet/fault_methods.h"
#include "daemon/subnet/queue_pair_methods.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "testing/verbs_end.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using testing::Chain, testing::Lab, testing::VerbsEnd;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

struct AsyncEvents : verbs::AsyncEventListener {
  explicit AsyncEvents(bool is_program = true, uint64_t whose = 1)
      : of_program(is_program), owner(whose) {}
  void OnDeviceEvent(verbs::AsyncEventType type, int port) override {
    heard.emplace_back(type, port);
  }
  bool IsOfProgram() const override { return of_program; }
  uint64_t process() const override { return owner; }

  const bool of_program;
  const uint64_t owner;
  std::vector<std::pair<verbs::AsyncEventType, int>> heard;
};

// Host-1 and host-2 with a queue pair each, and the methods for their faults.
class AdapterFaultTest : public ::testing::Test, protected MethodCaller {
 protected:
  AdapterFaultTest() {
    faults_.AddTo(dispatcher);
    queue_pairs_.AddTo(dispatcher);
  }
  void Connect(verbs::QpType type) {
    VerbsEnd::Options options;
    options.type = type;
    options.rights = VerbsEnd::kAllRights;
    a_ = std::make_unique<VerbsEnd>(lab_.timers, lab_.Provider(1), options);
    b_ = std::make_unique<VerbsEnd>(lab_.timers, lab_.Provider(2), options);
    VerbsEnd::Join(*a_, *b_);
  }
  static std::string At(int host, const VerbsEnd& end) {
    return absl::StrFormat("qp host-%d/0x%x ", host, end.qp->number());
  }
  static std::string Process(const VerbsEnd& end) {
    return absl::StrFormat("process %d ", end.memory->process());
  }
  static json Words(const std::string& line) {
    return {{"words", std::vector<std::string>(absl::StrSplit(line, ' '))}};
  }
  json Add(const std::string& line) { return Result("fault.add", Words(line)); }
  json List() { return Result("fault.list", json::object())["faults"]; }
  void Send(uint64_t id = 7) {
    ASSERT_TRUE(b_->Receive(4096, 1000, id).ok() && a_->Send(0, 1000, id).ok());
    lab_.timers.RunFor(absl::Seconds(1));
  }

  static constexpr uint64_t kGone = 4711;

  Lab lab_{Chain(1), Lab::kStatically};
  FabricEventLog events_{lab_.timers, lab_.fabric, absl::ZeroDuration()};
  FaultMethods faults_{lab_.timers, lab_.fabric, events_,
                       [](uint64_t process) { return process != kGone; }};
  QueuePairMethods queue_pairs_{lab_.fabric};
  std::unique_ptr<VerbsEnd> a_, b_;
};

TEST_F(AdapterFaultTest, APacketFaultActsAndIsListedUntilItIsRemoved) {
  Connect(verbs::QpType::kRc);
  Add(At(2, *b_) + "loss opcode rc-acknowledge nth 1 dir tx");
  Send();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7, 0)));
  const json listed = List();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0]["node"], "host-2");
  EXPECT_EQ(listed[0]["qpn"], absl::StrFormat("0x%x", b_->qp->number()));
  EXPECT_EQ(listed[0]["port"], nullptr);
  EXPECT_EQ(listed[0]["dir"], "tx");
  EXPECT_EQ(listed[0]["what"], "loss 100% opcode rc-acknowledge nth 1");
  EXPECT_EQ(listed[0]["tx"]["packets"], 2);
  EXPECT_EQ(listed[0]["tx"]["lost"], 1);
  EXPECT_FALSE(listed[0].contains("rx"));
  Result("fault.remove", {{"name", "fault-1"}});
  EXPECT_THAT(List(), IsEmpty());
}

TEST_F(AdapterFaultTest, AFaultOfRequestsTellsHowOftenItActed) {
  Connect(verbs::QpType::kRc);
  Add("qp host-1/* completion remote-access-error nth 2 dir tx");
  Send(1);
  Send(2);
  EXPECT_THAT(
      a_->PollEnds(),
      ElementsAre(Pair(1, 0), Pair(2, verbs::wc_status::kRemoteAccess)));
  EXPECT_EQ(List()[0]["acts"], (json{{"seen", 2}, {"acted", 1}}));
  EXPECT_EQ(List()[0]["qpn"], "*");
}

TEST_F(AdapterFaultTest, ACallFailsAsOftenAsAsked) {
  Add("host host-1 alloc-pd nth 1 errno EINVAL");
  EXPECT_TRUE(absl::IsInvalidArgument(lab_.Provider(1).CreatePd(1).status()));
  EXPECT_TRUE(lab_.Provider(1).CreatePd(1).ok());
  EXPECT_EQ(List()[0]["acts"], (json{{"seen", 2}, {"acted", 1}}));
  EXPECT_EQ(List()[0]["dir"], nullptr);
  Result("fault.reset", json::object());
  EXPECT_TRUE(lab_.Provider(1).CreatePd(1).ok());
}

TEST_F(AdapterFaultTest, ARegistrationTakesAsLongAsAsked) {
  Add("host host-1 reg-mr delay 20ms nth 2");
  Add("host host-1 reg-mr delay 5ms");
  EXPECT_EQ(lab_.Provider(1).TakeMrDelay(1), absl::Milliseconds(5));
  EXPECT_EQ(lab_.Provider(1).TakeMrDelay(1), absl::Milliseconds(25));
  EXPECT_EQ(lab_.Provider(2).TakeMrDelay(1), absl::ZeroDuration());
  EXPECT_EQ(List()[0]["acts"], (json{{"seen", 2}, {"acted", 1}}));
  EXPECT_EQ(List()[0]["what"], "reg-mr nth 2 delay 20ms");
  Connect(verbs::QpType::kRc);  // which registers memory: none fails
}

TEST_F(AdapterFaultTest, ACompletionEventIsLostOrComesLater) {
  Connect(verbs::QpType::kRc);
  Add("host host-2 completion-event loss nth 1");
  Add("host host-2 completion-event delay 50ms");
  b_->cq->RequestNotify(false);
  Send(1);
  EXPECT_EQ(b_->notices, 0);
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(1, 0))) << "polled as ever";
  b_->cq->RequestNotify(false);
  ASSERT_TRUE(b_->Receive(4096, 1000, 2).ok() && a_->Send(0, 1000, 2).ok());
  lab_.timers.RunFor(absl::Milliseconds(49));
  EXPECT_EQ(b_->notices, 0);
  lab_.timers.RunFor(absl::Milliseconds(2));
  EXPECT_EQ(b_->notices, 1);
  EXPECT_EQ(List()[0]["acts"], (json{{"seen", 2}, {"acted", 1}}));
  EXPECT_EQ(List()[1]["acts"], (json{{"seen", 1}, {"acted", 1}}));
}

TEST_F(AdapterFaultTest, AnEventThatIsLateNeedsWhoeverListens) {
  Connect(verbs::QpType::kRc);
  Add("host host-1 async-event delay 50ms");
  Add(At(1, *a_) + "error");
  EXPECT_THAT(a_->events, IsEmpty());
  lab_.timers.RunFor(absl::Milliseconds(51));
  EXPECT_THAT(a_->events, ElementsAre(verbs::AsyncEventType::kQpFatal));
  Add("host host-2 async-event delay 50ms");
  Add(At(2, *b_) + "error");
  EXPECT_EQ(List()[1]["acts"]["acted"], 1);
  b_.reset();
  lab_.timers.RunFor(absl::Milliseconds(51));
}

TEST_F(AdapterFaultTest, ALateCompletionEventNeedsItsQueue) {
  Connect(verbs::QpType::kRc);
  Add("host host-2 completion-event delay 50ms");
  b_->cq->RequestNotify(false);
  ASSERT_TRUE(b_->Receive(4096, 1000, 1).ok() && a_->Send(0, 1000, 1).ok());
  lab_.timers.RunFor(absl::Milliseconds(20));
  EXPECT_EQ(List()[0]["acts"]["acted"], 1);
  b_.reset();
  lab_.timers.RunFor(absl::Milliseconds(51));
}

TEST_F(AdapterFaultTest, WhatTheHostItselfHearsIsNeitherLostNorCounted) {
  AsyncEvents host(/*is_program=*/false);
  lab_.Provider(1).AddListener(host);
  Add("host host-1 async-event loss");
  Add("host host-1 event sm-change");
  EXPECT_THAT(host.heard,
              ElementsAre(Pair(verbs::AsyncEventType::kSmChange, 1)));
  EXPECT_EQ(List()[0]["acts"], (json{{"seen", 0}, {"acted", 0}}));
  lab_.Provider(1).RemoveListener(host);
}

TEST_F(AdapterFaultTest, EventsOfPortsAreLostAsWell) {
  AsyncEvents listener;
  lab_.Provider(1).AddListener(listener);
  Add("host host-1 async-event loss nth 1");
  Add("host host-1 event sm-change");
  Add("host host-1 event client-reregister");
  EXPECT_THAT(listener.heard,
              ElementsAre(Pair(verbs::AsyncEventType::kClientReregister, 1)));
  lab_.Provider(1).RemoveListener(listener);
}

TEST_F(AdapterFaultTest, AFaultOfAProcessConcernsNoOther) {
  Connect(verbs::QpType::kRc);
  Add(Process(*b_) + "loss dir tx");
  Add(Process(*b_) + "completion remote-access-error dir tx");
  VerbsEnd c(lab_.timers, lab_.Provider(1), {}),
      d(lab_.timers, lab_.Provider(2), {});
  VerbsEnd::Join(c, d);
  Send();
  EXPECT_THAT(a_->PollEnds(),
              ElementsAre(Pair(7, verbs::wc_status::kRetriesExceeded)))
      << "no answer of b left";
  ASSERT_TRUE(c.Receive(0, 10).ok() && d.Send(0, 10, 1).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_THAT(d.PollEnds(), ElementsAre(Pair(1, 0)));
  const json listed = List();
  EXPECT_EQ(listed[0]["pid"], b_->memory->process());
  EXPECT_EQ(listed[0]["node"], nullptr);
  EXPECT_EQ(listed[0]["guid"], nullptr);
  EXPECT_EQ(listed[0]["dir"], "tx");
  EXPECT_EQ(listed[0]["tx"]["packets"], listed[0]["tx"]["lost"]);
  EXPECT_EQ(listed[1]["acts"]["acted"], 0);
}

TEST_F(AdapterFaultTest, AFaultOfAProcessIsOnAllOfItsAdapters) {
  auto memory =
      std::make_shared<testing::FakeMemory>(lab_.timers, VerbsEnd::kSize);
  VerbsEnd::Options options;
  options.memory = memory;
  VerbsEnd a(lab_.timers, lab_.Provider(1), options),
      b(lab_.timers, lab_.Provider(2), options);
  VerbsEnd::Join(a, b);
  Add(Process(a) + "loss nth 1 dir rx opcode any");
  // The fault has one count for both: only the first packet is lost.
  ASSERT_TRUE(b.Receive(4096, 10, 1).ok() && a.Send(0, 10, 1).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_THAT(a.PollEnds(), ElementsAre(Pair(1, 0)));
  EXPECT_EQ(List()[0]["rx"]["packets"], 3);
  Add(Process(a) + "error");
  EXPECT_EQ(a.State(), verbs::QpState::kError);
  EXPECT_EQ(b.State(), verbs::QpState::kError);
  EXPECT_EQ(Error("fault.add", Words(Process(a) + "error")),
            absl::StrFormat(
                "process %d has no queue pair that could enter that state",
                memory->process()));
}

TEST_F(AdapterFaultTest, FaultsOfAHostAndOfAProcessBothTakeThePacketsOfItsOwn) {
  Connect(verbs::QpType::kRc);
  Add("qp host-1/* delay 10ms dir tx opcode send");
  Add(Process(*a_) + "delay 5ms dir tx opcode send");
  ASSERT_TRUE(b_->Receive(4096, 10, 1).ok() && a_->Send(0, 10, 1).ok());
  // It is sent again after 4 ms, and each time comes 15 ms later.
  lab_.timers.RunFor(absl::Milliseconds(14));
  EXPECT_THAT(b_->PollEnds(), IsEmpty());
  lab_.timers.RunFor(absl::Milliseconds(2));
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(1, 0)));
}

TEST_F(AdapterFaultTest, CallsOfAProcessFailForItAlone) {
  Connect(verbs::QpType::kRc);
  const uint64_t process = a_->memory->process();
  Add(Process(*a_) + "alloc-pd errno EINVAL");
  Add(Process(*a_) + "create-cq errno ENOMEM");
  Add(Process(*a_) + "reg-mr delay 5ms");
  verbs::Provider& provider = lab_.Provider(1);
  EXPECT_TRUE(absl::IsInvalidArgument(provider.CreatePd(process).status()));
  EXPECT_TRUE(provider.CreatePd(process + 1000).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(provider.CreateCq(1, *a_).status()));
  EXPECT_TRUE(provider.CreateCq(1, *b_).ok());
  EXPECT_EQ(provider.TakeMrDelay(process), absl::Milliseconds(5));
  EXPECT_EQ(provider.TakeMrDelay(process + 1000), absl::ZeroDuration());
}

TEST_F(AdapterFaultTest, EventsOfAProcessAreLostForItAlone) {
  Connect(verbs::QpType::kRc);
  AsyncEvents mine(true, a_->memory->process()), other(true, kGone);
  lab_.Provider(1).AddListener(mine);
  lab_.Provider(1).AddListener(other);
  Add(Process(*a_) + "async-event loss");
  Add(Process(*b_) + "completion-event loss nth 1");
  Add("host host-1 event sm-change");
  EXPECT_THAT(mine.heard, IsEmpty());
  EXPECT_THAT(other.heard,
              ElementsAre(Pair(verbs::AsyncEventType::kSmChange, 1)));
  a_->cq->RequestNotify(false);
  b_->cq->RequestNotify(false);
  Send();
  EXPECT_EQ(a_->notices, 1);
  EXPECT_EQ(b_->notices, 0);
  Add(At(1, *a_) + "error");
  EXPECT_THAT(a_->events, IsEmpty());
  Add(At(2, *b_) + "error");
  EXPECT_THAT(b_->events, ElementsAre(verbs::AsyncEventType::kQpFatal));
  lab_.Provider(1).RemoveListener(mine);
  lab_.Provider(1).RemoveListener(other);
}

TEST_F(AdapterFaultTest, AReceiverIsNotReadyWhoseProcessIsNot) {
  Connect(verbs::QpType::kRc);
  Add(Process(*b_) + "rnr nth 1");
  Send();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7, 0)));
  EXPECT_EQ(List()[0]["acts"], (json{{"seen", 2}, {"acted", 1}}));
}

TEST_F(AdapterFaultTest, AProcessThatIsNotThereHasNoFaults) {
  const std::string process = absl::StrFormat("process %d loss", kGone);
  EXPECT_EQ(Error("fault.add", Words(process)), "there is no process 4711");
  EXPECT_FALSE(faults_.Check("a", {"process", "4711", "loss"}).ok());
  EXPECT_TRUE(faults_.Check("a", {"process", "1", "loss"}).ok());
}

TEST_F(AdapterFaultTest, WhatIsDoneOnceIsNotKept) {
  Connect(verbs::QpType::kRc);
  EXPECT_EQ(Add(At(1, *a_) + "error"),
            (json{{"name", "fault-1"}, {"done", true}}));
  EXPECT_EQ(a_->State(), verbs::QpState::kError);
  EXPECT_THAT(List(), IsEmpty());
}

TEST_F(AdapterFaultTest, AllQueuePairsOfANodeEnterTheState) {
  Connect(verbs::QpType::kUd);
  Add("qp host-1/* sqe");
  EXPECT_EQ(a_->State(), verbs::QpState::kSendQueueError);
  EXPECT_EQ(b_->State(), verbs::QpState::kReadyToSend);
}

TEST_F(AdapterFaultTest, ProgramsHearOfAnEvent) {
  AsyncEvents listener;
  lab_.Provider(1).AddListener(listener);
  Add("host host-1 event client-reregister");
  EXPECT_THAT(listener.heard,
              ElementsAre(Pair(verbs::AsyncEventType::kClientReregister, 1)));
  lab_.Provider(1).RemoveListener(listener);
}

TEST_F(AdapterFaultTest, AFaultOutlivesTheAdapter) {
  Connect(verbs::QpType::kRc);
  Add("qp host-1/* loss");
  a_.reset();
  ASSERT_TRUE(lab_.fabric.RemoveDevice(lab_.Host(1)).ok());
  EXPECT_EQ(List().size(), 1u);
  Result("fault.remove", {{"name", "fault-1"}});
}

TEST_F(AdapterFaultTest, WhatCannotHappenIsRefusedAtOnce) {
  Connect(verbs::QpType::kRc);
  const std::string rc = absl::StrFormat("0x%x", a_->qp->number());
  const std::string place = "queue pair " + rc + " of \"host-1\"";
  EXPECT_EQ(Error("fault.add", Words("qp host-1/0x999 loss")),
            "there is no queue pair 0x999 of \"host-1\": \"ibemu qp ls\" lists "
            "them");
  EXPECT_EQ(Error("fault.add", Words("qp host-1/" + rc +
                                     " loss opcode "
                                     "ud-send-only")),
            "opcode ud-send-only: " + place +
                " is of type RC, which has no such packets");
  EXPECT_EQ(Error("fault.add", Words("qp host-1/" + rc + " sqe")),
            place +
                " is of type RC, which has no state SQE: its errors lead to "
                "ERR");
  EXPECT_EQ(Error("fault.add", Words("qp sw1/2 loss")),
            "\"sw1\" is no channel adapter: it has no verbs");
  EXPECT_EQ(Error("fault.add", Words("host host-1 event port-error port 2")),
            "port 2 of \"host-1\" does not exist: it has ports 1 to 1");
  EXPECT_EQ(Error("fault.add", Words("qp host-3/* error")),
            "no node \"host-3\": did you mean \"host-1\"?");
  Add("qp host-1/" + rc + " error");
  EXPECT_EQ(Error("fault.add", Words("qp host-1/" + rc + " error")),
            place + " is in the error state already");
  EXPECT_EQ(Error("fault.add", Words("qp host-1/* error")),
            "\"host-1\" has no queue pair that could enter that state");
  EXPECT_THAT(List(), IsEmpty());
}

TEST_F(AdapterFaultTest, AScenarioMayNameAQueuePairThatIsToCome) {
  EXPECT_TRUE(faults_.Check("a", {"qp", "host-1/0x999", "loss"}).ok());
  EXPECT_FALSE(faults_.Check("a", {"qp", "sw1/0x999", "loss"}).ok());
}

TEST_F(AdapterFaultTest, QueuePairsAreListedWithTheirPeers) {
  EXPECT_THAT(Result("qp.list", json::object())["queue_pairs"], IsEmpty());
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  const json all = Result("qp.list", json::object());
  EXPECT_EQ(all["next"], nullptr);
  ASSERT_EQ(all["queue_pairs"].size(), 2u);
  json first = all["queue_pairs"][0];
  EXPECT_EQ(first["pid"], a_->memory->process());
  first.erase("pid");
  EXPECT_EQ(first,
            (json{{"node", "host-1"},
                  {"guid", "0x0000000000001000"},
                  {"qpn", a_->qp->number()},
                  {"type", "RC"},
                  {"state", "RTS"},
                  {"port", 1},
                  {"peer",
                   {{"lid", 2}, {"qpn", b_->qp->number()}, {"node", "host-2"}}},
                  {"send", {{"size", 100}, {"posted", 0}, {"outstanding", 0}}},
                  {"receive", {{"size", 100}, {"posted", 0}}},
                  {"counters", json::object()}}));
  const json second = Result("qp.list", {{"node", "host-2"}})["queue_pairs"][0];
  EXPECT_EQ(second["receive"]["posted"], 1);
  EXPECT_EQ(Error("qp.list", {{"node", "host-9"}}),
            "no node \"host-9\": did you mean \"host-1\"?");
}

TEST_F(AdapterFaultTest, AQueuePairIsShownWithItsAttributes) {
  Connect(verbs::QpType::kRc);
  Send();
  const json shown =
      Result("qp.show", {{"node", "host-1"}, {"qpn", a_->qp->number()}});
  EXPECT_EQ(shown["state"], "RTS");
  const json& attributes = shown["attributes"];
  const verbs::QpAttributes asked = a_->qp->Query();
  EXPECT_EQ(attributes["timeout"], asked.timeout);
  EXPECT_EQ(attributes["timeout_ns"], int64_t{4096} << asked.timeout);
  EXPECT_EQ(attributes["path_mtu"], 128 << asked.path_mtu);
  EXPECT_EQ(attributes["sq_psn"], asked.sq_psn);
  EXPECT_EQ(attributes["ah_attr"]["dlid"], 2);
  EXPECT_EQ(attributes["ah_attr"]["grh"], nullptr);
  EXPECT_EQ(attributes["path_mig_state"], "MIGRATED");
  EXPECT_FALSE(attributes.contains("alt_ah_attr"));
  EXPECT_THAT(attributes["qp_access_flags"],
              ElementsAre("remote-write", "remote-read", "remote-atomic"));
  EXPECT_EQ(Error("qp.show", {{"node", "host-1"}, {"qpn", 0x999}}),
            "host-1 has no queue pair 0x999");
  EXPECT_EQ(Error("qp.show", {{"node", "sw1"}, {"qpn", 2}}),
            "sw1 has no queue pair 0x2");
}

TEST_F(AdapterFaultTest, AnAlternatePathIsShownBesideThePath) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(a_->Rearm(VerbsEnd::AlternatePath(1, 3)).ok());
  const json attributes = Result(
      "qp.show", {{"node", "host-1"}, {"qpn", a_->qp->number()}})["attributes"];
  EXPECT_EQ(attributes["path_mig_state"], "REARM");
  EXPECT_EQ(attributes["ah_attr"]["dlid"], 2);
  EXPECT_EQ(attributes["alt_ah_attr"]["dlid"], 3);
  EXPECT_EQ(attributes["alt_port_num"], 1);
  EXPECT_EQ(attributes["alt_pkey_index"], 0);
  EXPECT_EQ(attributes["alt_timeout"], 10);
}

TEST_F(AdapterFaultTest, ADatagramQueuePairHasAQKeyAndNoPath) {
  Connect(verbs::QpType::kUd);
  const json attributes = Result(
      "qp.show", {{"node", "host-1"}, {"qpn", a_->qp->number()}})["attributes"];
  EXPECT_EQ(attributes["qkey"], a_->qp->Query().qkey);
  EXPECT_FALSE(attributes.contains("timeout"));
  EXPECT_FALSE(attributes.contains("ah_attr"));
}

TEST_F(AdapterFaultTest, AnAnswerIsBoundedAndTheNextGoesOn) {
  Connect(verbs::QpType::kRc);
  std::vector<std::unique_ptr<VerbsEnd>> more;
  constexpr size_t kMore = QueuePairMethods::kPage;
  auto memory =
      std::make_shared<testing::FakeMemory>(lab_.timers, VerbsEnd::kSize);
  VerbsEnd::Options options;
  options.memory = memory;
  for (size_t i = 0; i < kMore; ++i) {
    more.push_back(
        std::make_unique<VerbsEnd>(lab_.timers, lab_.Provider(1), options));
  }
  const json page = Result("qp.list", json::object());
  EXPECT_EQ(page["queue_pairs"].size(), QueuePairMethods::kPage);
  const json rest = Result("qp.list", {{"from", page["next"]}});
  EXPECT_EQ(rest["queue_pairs"].size(), 2u);
  EXPECT_EQ(rest["queue_pairs"][1]["node"], "host-2");
  EXPECT_EQ(rest["next"], nullptr);
}

}  // namespace
}  // namespace ibemu::daemon
