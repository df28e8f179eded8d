#include "daemon/journal/subnet_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "daemon/events/fabric_event_log.h"
#include "daemon/journal/restore_subnet.h"
#include "daemon/subnet/hardware_methods.h"
#include "fabric/forwarding/endpoints.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "testing/temp_directory.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Lab, testing::Chain;

const JournalSubnet kOfChain{.topology = "chain", .digest = 1, .seed = 1};

// One daemon after the other; each ends without a word, as if it were killed.
struct Life : MethodCaller {
  explicit Life(const std::string& path,
                absl::Duration since_1970 = absl::Hours(1), int switches = 1)
      : lab(Chain(switches)) {
    auto file = JournalFile::Open(path);
    EXPECT_TRUE(file.ok()) << file.status();
    content = *(*file)->Read();
    EXPECT_TRUE(RestoreSubnet(content, lab.fabric).ok());
    journal.emplace(lab.timers, lab.fabric, links, faults, *std::move(file),
                    content, since_1970);
    links.AddTo(dispatcher);
    faults.AddTo(dispatcher);
    hardware.AddTo(dispatcher);
    dispatcher.AfterEachCall([this] { journal->Write(); });
    started = journal->Start(kOfChain, content);
  }

  json SetLink(const char* node, bool up, int milliseconds = 0) {
    return Result(
        "link.set",
        {{"node", node}, {"port", 1}, {"up", up}, {"for_ms", milliseconds}});
  }
  void AddFault(const std::string& name, const std::string& line) {
    Result("fault.add",
           {{"name", name},
            {"words", std::vector<std::string>(absl::StrSplit(line, ' '))}});
  }
  std::vector<std::string> Faults() {
    std::vector<std::string> names;
    const json list = Result("fault.list", json::object());
    for (const json& fault : list["faults"]) {
      names.push_back(fault["name"]);
    }
    return names;
  }
  bool IsCut(const char* node) { return !lab.PortOf(node, 1).cable_up; }

  Lab lab;
  FabricMethods links{lab.timers, lab.fabric};
  FabricEventLog events{lab.timers, lab.fabric, absl::ZeroDuration()};
  FaultMethods faults{lab.timers, lab.fabric, events};
  HardwareMethods hardware{lab.fabric};
  JournalContent content;
  std::optional<SubnetJournal> journal;
  absl::Status started;
};

class SubnetJournalTest : public ::testing::Test {
 protected:
  const testing::TempDirectory directory_;
  const std::string path_ = directory_.path() + "/lab.journal";
};

class SilentAdapter : public fabric::RemoteAdapter {
  void OnPacket(fabric::PortId, const fabric::Packet&) override {}
  void OnReregister(fabric::PortId) override {}
};

TEST_F(SubnetJournalTest, WhatWasDoneIsThereAgain) {
  {
    Life life(path_);
    ASSERT_TRUE(life.started.ok()) << life.started;
    life.SetLink("host-1", false);
    life.Result(
        "cable.set",
        {{"node", "host-1"}, {"port", 1}, {"peer", "sw1"}, {"peer_port", 7}});
    life.Result("guid.set", {{"node", "sw1"}, {"guid", "0x4711"}});
    life.Result("lid.set",
                {{"node", "host-1"}, {"port", 1}, {"lid", 77}, {"lmc", 1}});
    life.SetLink("host-2", false);
    life.Result("node.set", {{"node", "host-2"}, {"up", false}});
  }
  Life life(path_);
  EXPECT_EQ(life.lab.PortOf("host-1", 1).peer, life.lab.IdOf("sw1", 7));
  EXPECT_EQ(life.lab.PortOf("sw1", 1).peer, fabric::kNoPort);
  EXPECT_EQ(life.lab.subnet().node(life.lab.Find("sw1")).node_guid,
            wire::Guid{0x4711});
  EXPECT_EQ(life.lab.LidOf("host-1"), wire::Lid{77});
  EXPECT_EQ(life.lab.PortOf("host-1", 1).info.lmc, 1);
  EXPECT_TRUE(life.IsCut("host-2"));
  EXPECT_FALSE(life.lab.subnet().node(life.lab.Find("host-2")).up);
}

TEST_F(SubnetJournalTest, APortThatWasDisabledIsSoAgainUntilItIsEnabled) {
  const auto set = [](Life& life, mad::PortPhysicalState state) {
    ASSERT_TRUE(life.lab.fabric.links().SetPhysicalState(
        life.lab.IdOf("sw1", 2), state));
    life.lab.timers.RunFor(absl::Milliseconds(1));
  };
  {
    Life life(path_);
    set(life, mad::PortPhysicalState::kDisabled);
  }
  {
    Life life(path_);
    EXPECT_EQ(life.lab.PortOf("sw1", 2).info.port_physical_state,
              mad::PortPhysicalState::kDisabled);
    EXPECT_FALSE(life.lab.PortOf("host-2", 1).IsUp());
    set(life, mad::PortPhysicalState::kPolling);
  }
  Life life(path_);
  EXPECT_TRUE(life.lab.PortOf("host-2", 1).IsUp());
}

TEST_F(SubnetJournalTest, APortThatPowerOnEnablesIsEnabledAtOnceInTheFile) {
  {
    Life life(path_);
    ASSERT_TRUE(life.lab.fabric.links().SetPhysicalState(
        life.lab.IdOf("sw1", 2), mad::PortPhysicalState::kDisabled));
    life.lab.timers.RunFor(absl::Milliseconds(1));
    // No time goes by: this is written before the method's answer.
    life.Result("node.set", {{"node", "sw1"}, {"up", false}});
    life.Result("node.set", {{"node", "sw1"}, {"up", true}});
  }
  Life life(path_);
  EXPECT_TRUE(life.lab.PortOf("host-2", 1).IsUp());
}

TEST_F(SubnetJournalTest, APortOfAHostElsewhereIsNotOursToDisable) {
  SilentAdapter adapter;
  {
    Life life(path_);
    ASSERT_TRUE(
        life.lab.fabric.SetRemote(life.lab.Find("host-1"), &adapter).ok());
    ASSERT_EQ(life.lab.PortOf("host-1", 1).info.port_physical_state,
              mad::PortPhysicalState::kDisabled);
    life.lab.timers.RunFor(absl::Seconds(1));
  }
  Life life(path_);
  EXPECT_TRUE(life.lab.PortOf("host-1", 1).IsUp());
}

TEST_F(SubnetJournalTest, WhatWasUndoneIsNotThereAgain) {
  {
    Life life(path_);
    life.SetLink("host-1", false);
    life.Result("node.set", {{"node", "host-2"}, {"up", false}});
    life.AddFault("lossy", "link host-1/1 loss 5%");
  }
  {
    Life life(path_);
    life.SetLink("host-1", true);
    life.Result("node.set", {{"node", "host-2"}, {"up", true}});
    life.Result("fault.remove", {{"name", "lossy"}});
  }
  Life life(path_);
  EXPECT_FALSE(life.IsCut("host-1"));
  EXPECT_TRUE(life.lab.subnet().node(life.lab.Find("host-2")).up);
  EXPECT_THAT(life.Faults(), IsEmpty());
}

TEST_F(SubnetJournalTest, FaultsAreThoseOfTheSamePlacesInTheSameOrder) {
  {
    Life life(path_);
    life.AddFault("z", "link host-1/1 loss 5% seed 3");
    life.AddFault("a", "link host-1/1 delay 1ms");
    life.AddFault("m", "node sw1 slow 5ms");
    life.AddFault("calls", "host host-2 reg-mr nth 2");
    // Ends with its process, which is another one's number after that.
    life.AddFault("process", "process 1 reg-mr");
    // The words of a fault speak of a name that is gone.
    life.lab.subnet().node(life.lab.Find("host-1")).Describe("renamed");
    life.Result("guid.set", {{"node", "sw1"}, {"guid", "0x4711"}});
  }
  Life life(path_);
  EXPECT_THAT(life.Faults(), ElementsAre("a", "calls", "m", "z"));
  std::vector<std::string> in_order;
  for (const StoredFault& fault : life.faults.Stored()) {
    in_order.push_back(fault.name);
  }
  EXPECT_THAT(in_order, ElementsAre("z", "a", "m", "calls"));
  const json list = life.Result("fault.list", json::object())["faults"];
  EXPECT_EQ(list[3]["node"], "host-1");
  EXPECT_EQ(list[3]["seed"], 3);
}

TEST_F(SubnetJournalTest, AFaultOfACableThatIsGoneIsLeftOut) {
  {
    Life life(path_);
    life.AddFault("old", "link sw1/1 loss 5%");
    life.AddFault("new", "link host-2/1 loss 5%");
    life.SetLink("host-1", false);
    life.Result(
        "cable.set",
        {{"node", "host-1"}, {"port", 1}, {"peer", "sw1"}, {"peer_port", 7}});
  }
  Life life(path_);
  EXPECT_TRUE(life.started.ok()) << life.started;
  EXPECT_THAT(life.Faults(), ElementsAre("new"));
}

TEST_F(SubnetJournalTest, AFaultThatIsNoneIsRefused) {
  { Life life(path_); }
  {
    auto file = JournalFile::Open(path_);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->Accept(kOfChain).ok());
    ASSERT_TRUE((*file)
                    ->Write({.nodes = {},
                             .ports = {},
                             .faults = {{{.name = "f",
                                          .words = {"link", "host-1/1", "gone"},
                                          .seed = std::nullopt,
                                          .node = topology::NodeId{0}}}},
                             .reverts = {}})
                    .ok());
  }
  const Life life(path_);
  EXPECT_THAT(std::string(life.started.message()),
              HasSubstr("lab.journal: it is damaged: the fault \"f\": "));
}

TEST_F(SubnetJournalTest, ACutThatEndsBySomeTimeEndsThen) {
  constexpr absl::Duration kThen = absl::Hours(1);
  {
    Life life(path_, kThen);
    life.SetLink("host-1", false, 10000);
    life.SetLink("host-2", false, 3000);
  }
  // Four seconds later.
  Life life(path_, kThen + absl::Seconds(4));
  life.lab.timers.RunFor(absl::Seconds(5));
  EXPECT_TRUE(life.IsCut("host-1"));
  EXPECT_FALSE(life.IsCut("host-2"));
  life.lab.timers.RunFor(absl::Seconds(2));
  EXPECT_FALSE(life.IsCut("host-1"));
}

TEST_F(SubnetJournalTest, ACutThatWasMadeToLastLasts) {
  constexpr absl::Duration kThen = absl::Hours(1);
  {
    Life life(path_, kThen);
    life.SetLink("host-1", false, 10000);
    life.SetLink("host-1", false);
  }
  Life life(path_, kThen);
  life.lab.timers.RunFor(absl::Seconds(20));
  EXPECT_TRUE(life.IsCut("host-1"));
}

TEST_F(SubnetJournalTest, WhatATimerDidIsWrittenSoon) {
  {
    Life life(path_);
    life.SetLink("host-1", false, 1000);
    life.lab.timers.RunFor(absl::Seconds(1));
  }
  Life life(path_);
  EXPECT_FALSE(life.IsCut("host-1"));
  EXPECT_THAT(life.links.Reverts(), IsEmpty());
}

TEST_F(SubnetJournalTest, AFlappingLinkIsNoCutOne) {
  {
    Life life(path_);
    life.AddFault("flap", "link host-1/1 flap 2s 1s");
    life.lab.timers.RunFor(absl::Milliseconds(2500));
    ASSERT_TRUE(life.IsCut("host-1"));
  }
  Life life(path_);
  EXPECT_FALSE(life.IsCut("host-1"));
  EXPECT_THAT(life.Faults(), ElementsAre("flap"));
}

TEST_F(SubnetJournalTest, TheLidsOfASubnetManagerAreWrittenWhenItIsQuiet) {
  {
    Life life(path_);
    life.lab.PortOf("host-2", 1).info.lid = wire::Lid{30};
    ASSERT_TRUE(StartSubnetManager(life.lab.fabric).ok());
    life.lab.timers.RunFor(SubnetJournal::kQuiet - absl::Milliseconds(1));
  }
  {
    Life life(path_);
    EXPECT_THAT(life.content.ports, IsEmpty());
    life.lab.PortOf("host-2", 1).info.lid = wire::Lid{30};
    ASSERT_TRUE(StartSubnetManager(life.lab.fabric).ok());
    life.lab.timers.RunFor(SubnetJournal::kQuiet + SubnetJournal::kPause);
  }
  Life life(path_);
  EXPECT_EQ(life.lab.LidOf("host-2"), wire::Lid{30});
  EXPECT_NE(life.lab.LidOf("host-1"), wire::Lid::kUnassigned);
}

TEST_F(SubnetJournalTest, ANodeThatWasOffHasLostItsLid) {
  {
    Life life(path_);
    life.Result("lid.set", {{"node", "host-1"}, {"port", 1}, {"lid", 77}});
    life.Result("node.set", {{"node", "host-1"}, {"up", false}});
  }
  {
    Life life(path_);
    life.Result("node.set", {{"node", "host-1"}, {"up", true}});
    EXPECT_EQ(life.lab.LidOf("host-1"), wire::Lid::kUnassigned);
    life.lab.timers.RunFor(SubnetJournal::kQuiet);
  }
  Life life(path_);
  EXPECT_EQ(life.lab.LidOf("host-1"), wire::Lid::kUnassigned);
}

TEST_F(SubnetJournalTest, AHostThatWasElsewhereIsRememberedForAMinute) {
  SilentAdapter adapter;
  {
    Life life(path_);
    const topology::NodeId host = life.lab.Find("host-2");
    ASSERT_TRUE(life.lab.fabric.SetRemote(host, &adapter).ok());
    life.lab.timers.RunPending();
    // Both daemons are told to end, and the other one is faster.
    ASSERT_TRUE(life.lab.fabric.SetRemote(host, nullptr).ok());
    life.lab.timers.RunPending();
  }
  {
    Life life(path_);
    EXPECT_THAT(life.journal->joined(), ElementsAre(life.lab.Find("host-2")));
    life.lab.timers.RunFor(SubnetJournal::kRejoinsWithin -
                           absl::Milliseconds(1));
  }
  {
    Life life(path_);
    EXPECT_THAT(life.journal->joined(), ElementsAre(life.lab.Find("host-2")));
    life.lab.timers.RunFor(SubnetJournal::kRejoinsWithin);
  }
  Life life(path_);
  EXPECT_THAT(life.journal->joined(), IsEmpty());
}

TEST_F(SubnetJournalTest, AHostThatCameAndLeftWithinAMinuteIsForgotten) {
  SilentAdapter adapter;
  {
    Life life(path_);
    const topology::NodeId host = life.lab.Find("host-2");
    ASSERT_TRUE(life.lab.fabric.SetRemote(host, &adapter).ok());
    life.lab.timers.RunFor(SubnetJournal::kQuiet);
    ASSERT_TRUE(life.lab.fabric.SetRemote(host, nullptr).ok());
    life.lab.timers.RunFor(SubnetJournal::kRejoinsWithin);
  }
  const Life life(path_);
  EXPECT_THAT(life.journal->joined(), IsEmpty());
}

TEST_F(SubnetJournalTest, TheLidsOfALargeSubnetAreWrittenInBatches) {
  constexpr int kSwitches = 1200;
  static_assert(kSwitches > static_cast<int>(SubnetJournal::kBatch));
  {
    Life life(path_, absl::Hours(1), kSwitches);
    ASSERT_TRUE(life.started.ok()) << life.started;
    for (int i = 1; i <= kSwitches; ++i) {
      life.lab.fabric.SetLid(life.lab.IdOf("sw" + std::to_string(i), 0),
                             static_cast<wire::Lid>(i), 0);
    }
    life.lab.timers.RunFor(SubnetJournal::kQuiet);
  }
  {
    Life life(path_, absl::Hours(1), kSwitches);
    EXPECT_EQ(life.content.ports.size(), SubnetJournal::kBatch);
    for (int i = 1; i <= kSwitches; ++i) {
      life.lab.fabric.SetLid(life.lab.IdOf("sw" + std::to_string(i), 0),
                             static_cast<wire::Lid>(i), 0);
    }
    life.lab.timers.RunFor(SubnetJournal::kQuiet + SubnetJournal::kPause);
  }
  const Life life(path_, absl::Hours(1), kSwitches);
  EXPECT_EQ(life.content.ports.size(), kSwitches);
}

TEST_F(SubnetJournalTest, WhoEndsHasWrittenTheLidsThatWait) {
  {
    Life life(path_);
    ASSERT_TRUE(StartSubnetManager(life.lab.fabric).ok());
    life.lab.timers.RunPending();
    life.journal->WriteAll();
  }
  Life life(path_);
  EXPECT_NE(life.lab.LidOf("host-1"), wire::Lid::kUnassigned);
}

TEST_F(SubnetJournalTest, AHostThatHasLeftIsForgotten) {
  SilentAdapter adapter;
  {
    Life life(path_);
    life.lab.timers.RunFor(SubnetJournal::kRejoinsWithin);
    const topology::NodeId host = life.lab.Find("host-2");
    ASSERT_TRUE(life.lab.fabric.SetRemote(host, &adapter).ok());
    life.lab.timers.RunFor(SubnetJournal::kQuiet);
    ASSERT_TRUE(life.lab.fabric.SetRemote(host, nullptr).ok());
    life.lab.timers.RunFor(SubnetJournal::kQuiet);
  }
  const Life life(path_);
  EXPECT_THAT(life.journal->joined(), IsEmpty());
}

// As long as it lives no file can grow.
class FullDisk {
 public:
  FullDisk() {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  }
  ~FullDisk() {
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before_), 0);
    signal(SIGXFSZ, action_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  const sighandler_t action_ = signal(SIGXFSZ, SIG_IGN);
  rlimit before_{};
};

TEST_F(SubnetJournalTest, WhatCouldNotBeWrittenIsWrittenLater) {
  {
    Life life(path_);
    std::optional<FullDisk> full(std::in_place);
    life.SetLink("host-1", false);
    life.AddFault("lossy", "link host-1/1 loss 5%");
    EXPECT_THAT(life.journal->Describe()["error"].get<std::string>(),
                HasSubstr("lab.journal: "));
    full.reset();
    life.lab.timers.RunFor(SubnetJournal::kRetry);
    EXPECT_EQ(life.journal->Describe()["error"], "");
  }
  Life life(path_);
  EXPECT_TRUE(life.IsCut("host-1"));
  EXPECT_THAT(life.Faults(), ElementsAre("lossy"));
}

TEST_F(SubnetJournalTest, WhatWasUndoneMeanwhileIsNotMissing) {
  Life life(path_);
  std::optional<FullDisk> full(std::in_place);
  life.SetLink("host-1", false);
  EXPECT_NE(life.journal->Describe()["error"], "");
  life.SetLink("host-1", true);
  full.reset();
  life.lab.timers.RunFor(SubnetJournal::kRetry);
  EXPECT_EQ(life.journal->Describe()["error"], "");
}

}  // namespace
}  // namespace ibemu::daemon
