#include "cli/console/console.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "daemon/events/fabric_event_log.h"
#include "daemon/subnet/counter_methods.h"
#include "daemon/subnet/fabric_methods.h"
#include "daemon/subnet/fault_methods.h"
#include "daemon/subnet/hardware_methods.h"
#include "daemon/subnet/path_methods.h"
#include "fabric/agents/pma_counters.h"
#include "fabric/fabric.h"
#include "fabric/subnet/subnet.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/nobody.h"

namespace ibemu::cli {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ConsoleTest : public ::testing::Test {
 protected:
  ConsoleTest() {
    methods_.AddTo(dispatcher_);
    faults_.AddTo(dispatcher_);
    counters_.AddTo(dispatcher_);
    hardware_.AddTo(dispatcher_);
    paths_.AddTo(dispatcher_);
  }

  // What `line` prints.
  std::string Do(const std::string& line) {
    out_.str("");
    console_.Do(line);
    return out_.str();
  }
  const fabric::NodePort& Port(const char* node, int port) {
    return lab_.subnet().port(
        *lab_.fabric.FindPort(*lab_.fabric.Find(node), port));
  }

  std::string Name(const char* node) {
    return lab_.subnet().node(*lab_.fabric.Find(node)).name;
  }
  std::string Lid(const char* node) {
    return std::to_string(static_cast<unsigned>(Port(node, 1).info.lid));
  }

  uint64_t SymbolErrors() {
    return fabric::ReadCounter(Port("node-1", 1),
                               fabric::Counter::kSymbolError);
  }

  testing::Lab lab_{"fat-tree:radix=4,levels=2", testing::Lab::kStatically};
  daemon::FabricMethods methods_{lab_.timers, lab_.fabric};
  daemon::FabricEventLog events_{lab_.timers, lab_.fabric,
                                 absl::ZeroDuration()};
  daemon::FaultMethods faults_{lab_.timers, lab_.fabric, events_};
  daemon::CounterMethods counters_{lab_.fabric};
  daemon::HardwareMethods hardware_{lab_.fabric};
  daemon::PathMethods paths_{lab_.fabric};
  control::MethodTable dispatcher_;
  daemon::NobodyInParticular nobody_;
  std::ostringstream out_;
  std::vector<absl::Duration> waits_;
  Console console_{[this](const char* method, const json& parameters) {
                     return dispatcher_.Call(method, parameters, nobody_);
                   },
                   [this](absl::Duration time) { waits_.push_back(time); },
                   out_};
};

TEST_F(ConsoleTest, CutsAndRestoresALinkOrAllOfANode) {
  EXPECT_EQ(Do("Unlink \"node-1\"[1]"), "");
  EXPECT_FALSE(Port("node-1", 1).IsUp());
  EXPECT_EQ(Do("ReLink \"node-1\""), "");
  EXPECT_TRUE(Port("node-1", 1).IsActive());
  EXPECT_EQ(console_.failures(), 0);
}

TEST_F(ConsoleTest, LinksFreePortsAndNoOthers) {
  Do("Unlink \"node-1\"[1]");
  Do("Unlink \"node-2\"[1]");
  EXPECT_EQ(Do("Link \"node-1\"[1] \"node-2\"[1]"), "");
  EXPECT_EQ(Port("node-1", 1).peer,
            *lab_.fabric.FindPort(*lab_.fabric.Find("node-2"), 1));
  EXPECT_TRUE(Port("node-2", 1).IsActive());
  EXPECT_THAT(Do("Link \"node-3\"[1] \"node-2\"[1]"),
              HasSubstr("is connected already, to"));
  EXPECT_THAT(Do("Link \"node-1\"[1] \"node-1\"[1]"),
              HasSubstr("a cable has two ends"));
  EXPECT_EQ(console_.failures(), 2);
}

TEST_F(ConsoleTest, RoutesFollowTheForwardingTables) {
  const std::string way = Do("Route " + Lid("node-1") + " " + Lid("node-8"));
  EXPECT_THAT(way, HasSubstr("From node \"" + Name("node-1") +
                             "\" port 1 lid " + Lid("node-1") + "\n[1] -> "));
  EXPECT_THAT(
      way, HasSubstr("-> \"" + Name("node-8") + "\"[1]\nTo node \"" +
                     Name("node-8") + "\" port 1 lid " + Lid("node-8") + "\n"));
  EXPECT_EQ(std::count(way.begin(), way.end(), '>'), 4) << way;
}

TEST_F(ConsoleTest, RoutesKnowAllLidsOfAPort) {
  Do("Baselid \"node-1\"[1] 0x100 2");
  const std::string node = "node \"" + Name("node-1") + "\" port 1 lid ";
  EXPECT_EQ(Do("Route 0x101 0x103"),
            "From " + node + "257\nTo " + node + "259\n");
}

TEST_F(ConsoleTest, RoutesThatEndEarlySayWhere) {
  const std::string from_1_to_8 =
      "Route " + Lid("node-1") + " " + Lid("node-8");
  Do("Unlink \"node-8\"[1]");
  const std::string way = Do(from_1_to_8);
  EXPECT_EQ(std::count(way.begin(), way.end(), '>'), 3) << way;
  EXPECT_THAT(way, HasSubstr("]\n# Bad port state found: port "));
  lab_.fabric.SetNode(*lab_.fabric.Find("node-1"), false);
  EXPECT_THAT(Do(from_1_to_8),
              HasSubstr("# Bad port state found: node-1 is switched off"));
  Do("Baselid \"node-8\"[1] 0x100");
  EXPECT_THAT(Do("Route " + Lid("node-2") + " 0x100"),
              HasSubstr("# Bad forwarding table entry found at: node \""));
  EXPECT_THAT(Do("Route 1 4000"), HasSubstr("# no port has LID 4000"));
  EXPECT_EQ(console_.failures(), 4);
}

TEST_F(ConsoleTest, GivesAPortAnotherLid) {
  EXPECT_EQ(Do("Baselid \"node-1\"[1] 0x100 2"), "");
  EXPECT_EQ(Port("node-1", 1).info.lid, wire::Lid{0x100});
  EXPECT_EQ(Port("node-1", 1).info.lmc, 2);
  const fabric::Node& leaf = lab_.subnet().NodeOf(Port("node-1", 1).peer);
  EXPECT_TRUE(leaf.sw->info.port_state_change) << "a manager will look";
  EXPECT_THAT(Do("Baselid \"" + leaf.description + "\"[1] 5"),
              HasSubstr("has no LID of its own"));
  EXPECT_THAT(Do("Baselid \"node-1\"[1] 49152"), HasSubstr("from 1 to 49151"));
}

TEST_F(ConsoleTest, GivesNodesAndPortsOtherGuids) {
  EXPECT_EQ(Do("Guid \"node-1\" 0x77"), "");
  EXPECT_EQ(Do("Guid \"node-1\"[1] 78"), "");
  EXPECT_EQ(*lab_.fabric.Find("0x77"), *lab_.fabric.Find("node-1"));
  EXPECT_EQ(Port("node-1", 1).guid, wire::Guid{0x78});
  EXPECT_THAT(Do("Guid \"node-1\" zz"), HasSubstr("\"zz\" is no GUID"));
}

TEST_F(ConsoleTest, ErrorIsAFaultThatItsNextWordReplaces) {
  Do("Error \"node-1\"[1] 20 17");
  Do("Error \"node-1\"[1] 30");
  json faults = *dispatcher_.Call("fault.list", json::object(), nobody_);
  ASSERT_EQ(faults["faults"].size(), 1u);
  EXPECT_THAT(faults.dump(), HasSubstr("loss 30%"));
  Do("Error \"node-1\"[1] 0");
  faults = *dispatcher_.Call("fault.list", json::object(), nobody_);
  EXPECT_TRUE(faults["faults"].empty());
  EXPECT_THAT(Do("Error \"node-1\"[1] 101"), HasSubstr("from 0 to 100"));
  EXPECT_THAT(Do("Error \"node-1\"[1] 1 999"), HasSubstr("attribute 999"));
}

TEST_F(ConsoleTest, ClearLeavesAPortAsItWasMade) {
  Do("Error \"node-1\"[1] 20");
  Do("PerformanceSet \"node-1\"[1] PortCounters.symbolerrorcounter=9");
  EXPECT_EQ(SymbolErrors(), 9u);
  EXPECT_EQ(Do("Clear \"node-1\"[1]"), "");
  EXPECT_FALSE(Port("node-1", 1).IsUp());
  EXPECT_EQ(SymbolErrors(), 0u);
  const json faults = *dispatcher_.Call("fault.list", json::object(), nobody_);
  EXPECT_TRUE(faults["faults"].empty());
}

TEST_F(ConsoleTest, CountersAreNamedWithTheirAttribute) {
  EXPECT_EQ(Do("PerformanceSet \"node-1\"[1] PortCounters.VL15Dropped=3"),
            "node-1[1] PortCounters.VL15Dropped has been set to 3\n");
  EXPECT_THAT(Do("PerformanceSet \"node-1\"[1] PortCounters.Nothing=3"),
              HasSubstr("field Nothing cannot be found"));
  EXPECT_THAT(Do("PerformanceSet \"node-1\"[1] VL15Dropped=3"),
              HasSubstr("write ATTRIBUTE.FIELD=VALUE"));
}

TEST_F(ConsoleTest, DumpShowsANodeOrAll) {
  const std::string one = Do("Dump \"node-1\"");
  EXPECT_THAT(one, HasSubstr("\nCa 1 \""));
  EXPECT_THAT(one, HasSubstr("Active/LinkUp\n#  dumped 1 nodes\n"));
  const std::string all = Do("Dump");
  EXPECT_THAT(all, HasSubstr("#\tForwarding table 0-"));
  EXPECT_THAT(all, HasSubstr("\"Sma Port\"[0]"));
  EXPECT_THAT(
      all, HasSubstr("#  dumped " + std::to_string(lab_.fabric.node_count()) +
                     " nodes"));
}

TEST_F(ConsoleTest, WaitsAndLeaves) {
  EXPECT_TRUE(console_.Do("Wait 3"));
  EXPECT_THAT(waits_, ElementsAre(absl::Seconds(3)));
  EXPECT_FALSE(console_.Do("quit"));
}

}  // namespace
}  // namespace ibemu::cli
