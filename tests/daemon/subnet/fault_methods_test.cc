#include "daemon/subnet/fault_methods.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "daemon/events/fabric_event_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Lab, testing::Chain, testing::LidGet;

// Host-1 and host-2 on one switch, and the methods of its faults.
struct FaultedLab : MethodCaller {
  explicit FaultedLab(uint64_t seed = 1)
      : lab(Chain(1), Lab::kStatically, seed) {
    methods.AddTo(dispatcher);
  }

  static json Words(const std::string& line) {
    return {{"words", std::vector<std::string>(absl::StrSplit(line, ' '))}};
  }
  static json Named(const std::string& name, const std::string& line) {
    json parameters = Words(line);
    parameters["name"] = name;
    return parameters;
  }
  // Gives the name.
  std::string Add(const json& parameters) {
    return Result("fault.add", parameters).value("name", "");
  }

  json List() { return Result("fault.list", json::object())["faults"]; }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const json& fault : List()) names.push_back(fault["name"]);
    return names;
  }

  // Host-1 asks host-2 `times`; each digit is the number of answers.
  std::string Ask(int times) {
    std::string answers;
    for (int i = 0; i < times; ++i) {
      absl::StrAppend(
          &answers, lab.Send(LidGet(0, mad::MgmtClass::kSubnetLidRouted,
                                    wire::Lid{2}, mad::AttributeId::kNodeInfo))
                        .size());
    }
    return answers;
  }

  Lab lab;
  FabricEventLog events{lab.timers, lab.fabric, absl::ZeroDuration()};
  FaultMethods methods{lab.timers, lab.fabric, events};
};

class FaultMethodsTest : public ::testing::Test, protected FaultedLab {};

TEST_F(FaultMethodsTest, AFaultActsUntilItIsRemoved) {
  EXPECT_EQ(Ask(1), "1");
  EXPECT_EQ(Add(Named("bad-cable", "link host-1/1 loss 100%")), "bad-cable");
  EXPECT_EQ(Ask(3), "000");
  Result("fault.remove", {{"name", "bad-cable"}});
  EXPECT_EQ(Ask(1), "1");
  EXPECT_THAT(List(), IsEmpty());
}

TEST_F(FaultMethodsTest, WhatActedIsRememberedWhenItIsRemoved) {
  Add(Named("idle", "link host-2/1 loss 100% attr PathRecord"));
  Add(Named("bad-cable", "link host-1/1 loss 100% dir tx"));
  Ask(3);
  Result("fault.reset", json::object());
  EXPECT_THAT(List(), IsEmpty());
  const json lost = {{"name", "bad-cable"},
                     {"what", "loss 100%"},
                     {"acts", 3},
                     {"removed", true}};
  EXPECT_EQ(methods.Acted({lab.Host(1)}, 0), json::array({lost}));
  EXPECT_EQ(methods.Acted({lab.Host(2)}, 0), json::array());
  EXPECT_EQ(methods.Acted({}, 4711), json::array());
}

TEST_F(FaultMethodsTest, TheOldestOfWhatActedIsForgottenFirst) {
  for (size_t i = 0; i <= FaultMethods::kMaxPast; ++i) {
    Add(Named(absl::StrCat("fault-", i), "link host-1/1 loss 100%"));
    Ask(1);
    Result("fault.remove", {{"name", absl::StrCat("fault-", i)}});
  }
  const json past = methods.Acted({lab.Host(1)}, 0);
  ASSERT_EQ(past.size(), FaultMethods::kMaxPast);
  EXPECT_EQ(past[0]["name"], "fault-1");
}

TEST_F(FaultMethodsTest, WithoutANameTheLowestFreeNumberIsTaken) {
  EXPECT_EQ(Add(Words("link host-1/1 loss 0%")), "fault-1");
  EXPECT_EQ(Add(Words("link host-1/1 loss 0%")), "fault-2");
  Result("fault.remove", {{"name", "fault-1"}});
  EXPECT_EQ(Add(Words("link host-1/1 loss 0%")), "fault-1");
}

TEST_F(FaultMethodsTest, FaultsOfOneLinkAreRemovedOneByOne) {
  Add(Named("a", "link host-1/1 loss 100%"));
  Add(Named("b", "link host-1/1 loss 100% dir tx"));
  Result("fault.remove", {{"name", "a"}});
  EXPECT_EQ(Ask(1), "0");
  EXPECT_THAT(Names(), ElementsAre("b"));
  Result("fault.remove", {{"name", "b"}});
  EXPECT_EQ(Ask(1), "1");
}

TEST_F(FaultMethodsTest, ResetRemovesAll) {
  Add(Words("link host-1/1 loss 100%"));
  Add(Words("link sw1/2 loss 100% dir rx"));
  EXPECT_EQ(Result("fault.reset", json::object())["removed"], 2);
  EXPECT_THAT(List(), IsEmpty());
  EXPECT_EQ(Ask(1), "1");
}

TEST_F(FaultMethodsTest, AListTellsEachDirectionsCounts) {
  Add(Words("link host-1/1 duplicate 100% delay 0s dir tx"));
  Add(Named("lossy", "link host-1/1 loss 100% dir rx seed 5"));
  Add(Named("watch", "link sw1/2 loss 0%"));
  Ask(1);
  lab.timers.RunFor(absl::Milliseconds(1));  // the copy comes later

  const json none = {{"packets", 0},    {"lost", 0},      {"corrupted", 0},
                     {"duplicated", 0}, {"reordered", 0}, {"delayed", 0}};
  json duplicated = none;
  duplicated["packets"] = duplicated["duplicated"] = 1;
  json lost = none;
  lost["packets"] = lost["lost"] = 2;
  json watched = none;
  watched["packets"] = 2;
  EXPECT_EQ(List(), json::array({{{"name", "fault-1"},
                                  {"node", "host-1"},
                                  {"guid", "0x0000000000001000"},
                                  {"port", 1},
                                  {"dir", "tx"},
                                  {"what", "duplicate 100%"},
                                  {"seed", nullptr},
                                  {"tx", duplicated}},
                                 {{"name", "lossy"},
                                  {"node", "host-1"},
                                  {"guid", "0x0000000000001000"},
                                  {"port", 1},
                                  {"dir", "rx"},
                                  {"what", "loss 100%"},
                                  {"seed", 5},
                                  {"rx", lost}},
                                 {{"name", "watch"},
                                  {"node", "sw1"},
                                  {"guid", "0x0000000000005010"},
                                  {"port", 2},
                                  {"dir", "both"},
                                  {"what", "loss 0%"},
                                  {"seed", nullptr},
                                  {"tx", watched},
                                  {"rx", watched}}}));
}

// What 64 questions of a fabric with this seed come to.
std::string Answers(uint64_t seed, const json& fault) {
  FaultedLab fabric(seed);
  fabric.Add(fault);
  return fabric.Ask(64);
}

TEST_F(FaultMethodsTest, TheSameCommandsHitTheSamePackets) {
  const json fault = Words("link host-1/1 loss 20% duplicate 20%");
  EXPECT_EQ(Answers(1, fault), Answers(1, fault));
  EXPECT_NE(Answers(1, fault), Answers(2, fault));
  // Two faults with the same words don't lose the same packets.
  EXPECT_NE(Answers(1, fault),
            Answers(1, Named("other", "link host-1/1 loss 20% duplicate 20%")));
}

TEST_F(FaultMethodsTest, ASeedOfItsOwnDecidesAlone) {
  const std::string words = "link host-1/1 loss 20% seed ";
  EXPECT_EQ(Answers(1, Named("a", words + "7")),
            Answers(2, Named("b", words + "7")));
  EXPECT_NE(Answers(1, Named("a", words + "7")),
            Answers(1, Named("a", words + "8")));
}

TEST_F(FaultMethodsTest, ACommonSeedLeavesEachFaultItsOwnLuck) {
  const auto with_seed = [](const std::string& name, int seed) {
    json fault = Named(name, "link host-1/1 loss 20%");
    fault["seed"] = seed;
    return fault;
  };
  EXPECT_EQ(Answers(1, with_seed("a", 7)), Answers(2, with_seed("a", 7)));
  EXPECT_NE(Answers(1, with_seed("a", 7)), Answers(1, with_seed("a", 8)));
  EXPECT_NE(Answers(1, with_seed("a", 7)), Answers(1, with_seed("b", 7)));
}

TEST_F(FaultMethodsTest, AFaultMayConcernOneAttribute) {
  Add(Words("link host-1/1 loss 100% attr PortInfo"));
  EXPECT_EQ(Ask(1), "1");
  Add(Words("link host-1/1 loss 100% attr NodeInfo dir tx"));
  EXPECT_EQ(Ask(1), "0");
  EXPECT_EQ(List()[1]["what"], "loss 100% attr NodeInfo");
}

TEST_F(FaultMethodsTest, ALinkFlapsUntilItsFaultIsRemoved) {
  const auto is_up = [this] { return lab.PortOf(lab.Host(1), 1).IsUp(); };
  Add(Named("shaky", "link host-1/1 flap 2s 100ms"));
  lab.timers.RunFor(absl::Milliseconds(2050));
  EXPECT_FALSE(is_up());
  lab.timers.RunFor(absl::Milliseconds(50));
  EXPECT_TRUE(is_up());
  lab.timers.RunFor(absl::Milliseconds(1950));
  EXPECT_FALSE(is_up());
  EXPECT_EQ(List(), json::array({{{"name", "shaky"},
                                  {"node", "host-1"},
                                  {"guid", "0x0000000000001000"},
                                  {"port", 1},
                                  {"dir", "both"},
                                  {"what", "flap 2s 100ms"},
                                  {"seed", nullptr},
                                  {"cuts", 2}}}));
  Result("fault.remove", {{"name", "shaky"}});
  EXPECT_TRUE(is_up());
  lab.timers.RunFor(absl::Seconds(10));
  EXPECT_TRUE(is_up());
}

TEST_F(FaultMethodsTest, ANodesAgentsAreSlowUntilTheFaultIsRemoved) {
  Add(Named("slow", "node host-2 slow 50ms"));
  EXPECT_EQ(Ask(1), "0");
  lab.timers.RunFor(absl::Milliseconds(50));
  EXPECT_EQ(lab.inbox.arrivals.size(), 1u);
  const json fault = List()[0];
  EXPECT_EQ(fault["node"], "host-2");
  EXPECT_EQ(fault["port"], nullptr);
  EXPECT_EQ(fault["what"], "slow 50ms");
  EXPECT_EQ(fault["tx"]["delayed"], 1);
  Result("fault.reset", json::object());
  EXPECT_EQ(Ask(1), "1");
}

TEST_F(FaultMethodsTest, MistakesNameWhatWasMeant) {
  Add(Named("bad-cable", "link host-1/1 loss 1%"));
  EXPECT_EQ(Error("fault.add", Words("link hots-1/1 loss 1%")),
            "no node \"hots-1\": did you mean \"host-1\"?");
  EXPECT_EQ(Error("fault.add", Words("node hots-1 slow 1ms")),
            "no node \"hots-1\": did you mean \"host-1\"?");
  EXPECT_EQ(Error("fault.add", Words("link sw1/3 flap 2s 1s")),
            "port 3 of \"sw1\" has no cable");
  EXPECT_EQ(Error("fault.add", Words("link host-1/2 loss 1%")),
            "port 2 of \"host-1\" does not exist: it has ports 1 to 1");
  EXPECT_EQ(Error("fault.add", Words("link sw1/3 loss 1%")),
            "port 3 of \"sw1\" has no cable");
  EXPECT_EQ(Error("fault.add", Words("link host-1/1 los 1%")),
            "\"los\" is no fault: did you mean \"loss\"?");
  EXPECT_EQ(Error("fault.add", Named("bad-cable", "link host-1/1 loss 1%")),
            "there is a fault \"bad-cable\" already: remove it, or take "
            "another name");
  EXPECT_EQ(Error("fault.remove", {{"name", "bad-cabel"}}),
            "no fault \"bad-cabel\": did you mean \"bad-cable\"?");
  EXPECT_THAT(Names(), ElementsAre("bad-cable"));
}

TEST_F(FaultMethodsTest, ANameIsOneShortWord) {
  for (const std::string& name :
       {std::string(), std::string("a b"), std::string("\x1b[2J"),
        std::string(65, 'x')}) {
    EXPECT_THAT(Error("fault.add", Named(name, "link host-1/1 loss 1%")),
                HasSubstr("is no name of a fault"));
  }
  EXPECT_EQ(Add(Named(std::string(64, 'x'), "link host-1/1 loss 1%")),
            std::string(64, 'x'));
}

TEST_F(FaultMethodsTest, TheNumberOfFaultsIsLimited) {
  for (size_t i = 0; i < FaultMethods::kMaxFaults; ++i) {
    Add(Words("link host-1/1 loss 0%"));
  }
  EXPECT_EQ(Error("fault.add", Words("link host-1/1 loss 0%")),
            "a fabric has at most 500 faults");
  EXPECT_EQ(List().size(), FaultMethods::kMaxFaults);
}

}  // namespace
}  // namespace ibemu::daemon
