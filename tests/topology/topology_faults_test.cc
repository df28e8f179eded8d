// What is wrong with a topology's text, and how it is told.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/formats/load_topology.h"
#include "topology/topology.h"

namespace ibemu::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One string a fault.
std::vector<std::string> FaultsOf(std::string_view text) {
  const absl::StatusOr<Topology> topology = ParseTopology(text, "lab.net");
  EXPECT_EQ(topology.status().code(), absl::StatusCode::kInvalidArgument);
  std::vector<std::string> faults(1);
  for (char c : topology.status().message()) {
    if (c == '\n') {
      faults.emplace_back();
    } else {
      faults.back() += c;
    }
  }
  return faults;
}

// Each is one fault of an otherwise sound file.
TEST(TopologyFaultTest, UnknownNode) {
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n\nCa 1 \"h1\"\n[1] \"sw11\"[1]\n"),
              ElementsAre("lab.net:4: no node is named \"sw11\": did you mean "
                          "\"sw1\"?"));
}

TEST(TopologyFaultTest, PortOutOfRange) {
  EXPECT_THAT(
      FaultsOf("Switch 8 \"sw1\"\n[9] \"h1\"[1]\n\nCa 1 \"h1\"\n"),
      ElementsAre("lab.net:2: port 9 of \"sw1\" does not exist: it has ports 1 "
                  "to 8"));
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n[8] \"h1\"[2]\n\nCa 1 \"h1\"\n"),
              ElementsAre("lab.net:2: port 2 of \"h1\" does not exist: it has "
                          "port 1 only"));
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n[0] \"h1\"[1]\n\nCa 1 \"h1\"\n"),
              ElementsAre(HasSubstr("port 0 of \"sw1\" does not exist")));
  EXPECT_THAT(
      FaultsOf("Switch 8 \"sw1\"\n[99999999999999999999] \"h1\"[1]\n\nCa 1 "
               "\"h1\"\n"),
      ElementsAre(HasSubstr("of \"sw1\" does not exist")));
}

TEST(TopologyFaultTest, PortUsedTwice) {
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n[3] \"h1\"[1]\n[3] \"h2\"[1]\n\n"
                       "Ca 1 \"h1\"\n[1] \"sw1\"[3]\n\nCa 1 \"h2\"\n"),
              ElementsAre("lab.net:3: port 3 of \"sw1\" is used twice: first "
                          "on line 2"));
}

TEST(TopologyFaultTest, OneSidedLink) {
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n[3] \"h1\"[1]\n\nCa 1 \"h1\"\n"),
              ElementsAre("lab.net:2: port 3 of \"sw1\" leads to port 1 of "
                          "\"h1\", which does not lead back: a cable is listed "
                          "at both ends"));
}

TEST(TopologyFaultTest, BothEndsDisagree) {
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n[3] \"h1\"[1]\n[4] \"h1\"[1]\n\n"
                       "Ca 1 \"h1\"\n[1] \"sw1\"[4]\n"),
              ElementsAre("lab.net:2: port 3 of \"sw1\" leads to port 1 of "
                          "\"h1\", but line 6 leads that to port 4 of "
                          "\"sw1\""));
}

TEST(TopologyFaultTest, PortLeadsToItself) {
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n[3] \"sw1\"[3]\n"),
              ElementsAre("lab.net:2: port 3 of \"sw1\" leads to itself: a "
                          "cable has two ends"));
}

TEST(TopologyFaultTest, DuplicateGuid) {
  EXPECT_THAT(FaultsOf("caguid=0x10\nCa 1 \"h1\"\n\nswitchguid=0x10\n"
                       "Switch 8 \"sw1\"\n"),
              ElementsAre("lab.net:4: node GUID 0x10 of \"sw1\" is taken: "
                          "\"h1\" on line 1 has it"));
  EXPECT_THAT(FaultsOf("Ca 1 \"a\"\n[1](77) \"b\"[1]\n\nCa 1 \"b\"\n[1](77) "
                       "\"a\"[1]\n"),
              ElementsAre("lab.net:5: port GUID 0x77 of \"b\" is taken: no two "
                          "ports have the same"));
}

TEST(TopologyFaultTest, PortGuidsDisagree) {
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n[3] \"h1\"[1](1234)\n\n"
                       "Ca 1 \"h1\"\n[1](1235) \"sw1\"[3]\n"),
              ElementsAre("lab.net:2: port 1 of \"h1\" has GUID 0x1234 here, "
                          "but 0x1235 on line 5"));
}

TEST(TopologyFaultTest, DuplicateName) {
  EXPECT_THAT(FaultsOf("Ca 1 \"h1\"\n\nCa 1 \"h1\"\n"),
              ElementsAre("lab.net:3: \"h1\" is defined twice: first on line "
                          "1"));
}

TEST(TopologyFaultTest, UnknownKeyword) {
  EXPECT_THAT(FaultsOf("Swich 8 \"sw1\"\n[1] \"h1\"[1]\n\nCa 1 \"h1\"\n"),
              ElementsAre("lab.net:1: unknown keyword \"Swich\": did you mean "
                          "\"Switch\"?"));
  EXPECT_THAT(FaultsOf("%!\n"),
              ElementsAre("lab.net:1: unknown keyword \"%!\""));
  EXPECT_THAT(FaultsOf("do Link \"sw1\"\n"),
              ElementsAre(HasSubstr("ibsim's console")));
}

TEST(TopologyFaultTest, MissingBlankLine) {
  EXPECT_THAT(
      FaultsOf(
          "Switch 8 \"sw1\"\n[1] \"h1\"[1]\nCa 1 \"h1\"\n[1] \"sw1\"[1]\n"),
      ElementsAre("lab.net:3: a blank line is missing above \"Ca\": it ends "
                  "the ports of \"sw1\""));
}

TEST(TopologyFaultTest, PortWithoutNode) {
  EXPECT_THAT(
      FaultsOf("Ca 1 \"h1\"\n\n[1] \"sw1\"[1]\n"),
      ElementsAre(HasSubstr("lab.net:3: this port belongs to no node")));
}

TEST(TopologyFaultTest, BadHeader) {
  EXPECT_THAT(FaultsOf("Switch sw1\n"),
              ElementsAre("lab.net:1: Switch takes the number of its ports and "
                          "a name, as in Switch 8 \"sw1\""));
  EXPECT_THAT(FaultsOf("Switch 255 \"sw1\"\n"),
              ElementsAre("lab.net:1: \"sw1\" has no proper number of ports: "
                          "it is from 1 to 254"));
  EXPECT_THAT(FaultsOf("Switch \"sw1\"\n"),
              ElementsAre(HasSubstr("no proper number of ports")));
  EXPECT_THAT(FaultsOf("Ca 1 \"a#b\"\n"),
              ElementsAre(HasSubstr("\"a#b\" is no name")));
  EXPECT_THAT(FaultsOf("Ca 1 \"a\" # \"" + std::string(65, 'x') + "\"\n"),
              ElementsAre("lab.net:1: the description of \"a\" has 65 bytes: "
                          "at most 64 fit"));
  // A node without one is described by its name.
  EXPECT_THAT(FaultsOf("Ca 1 \"" + std::string(65, 'x') + "\"\n"),
              ElementsAre(HasSubstr("has 65 bytes: at most 64 fit")));
}

TEST(TopologyFaultTest, BadAssignment) {
  EXPECT_THAT(FaultsOf("vendid=voltaire\nCa 1 \"a\"\n"),
              ElementsAre("lab.net:1: vendid is followed by \"=voltaire\": it "
                          "takes \"=\" and a number from 0 to 0xffffff"));
  EXPECT_THAT(FaultsOf("devid 7\nCa 1 \"a\"\n"),
              ElementsAre(HasSubstr("devid is followed by \"7\"")));
  EXPECT_THAT(FaultsOf("devid=0x10000\nCa 1 \"a\"\n"),
              ElementsAre(HasSubstr("0 to 0xffff")));
  EXPECT_THAT(FaultsOf("caguid=0\nCa 1 \"a\"\n"),
              ElementsAre(HasSubstr("a GUID other than 0")));
  EXPECT_THAT(FaultsOf("switchguid=0x12 34\nSwitch 1 \"a\"\n"),
              ElementsAre(HasSubstr("switchguid is followed by \"0x12 34\"")));
}

TEST(TopologyFaultTest, BadPortLine) {
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n[one] \"h1\"[1]\n"),
              ElementsAre(HasSubstr("a port line begins with the port's")));
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n[1]\n"),
              ElementsAre(HasSubstr("port 1 of \"sw1\" leads nowhere")));
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n[1] \"h1\"[x]\n"),
              ElementsAre(HasSubstr("to no proper port of \"h1\"")));
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n[1] \"h1\"[1] # lid 1 4xWDR\n"),
              ElementsAre(HasSubstr("\"4xWDR\" is no link rate")));
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n[1] \"h1\"[1] w=32\n"),
              ElementsAre(HasSubstr("\"w=32\" is no option of a link")));
}

TEST(TopologyFaultTest, NoCommonRate) {
  EXPECT_THAT(FaultsOf("Ca 1 \"a\"\n[1] \"b\"[1] w=2 s=7\n\nCa 1 \"b\"\n[1] "
                       "\"a\"[1] w=1 s=7\n"),
              ElementsAre("lab.net:2: port 1 of \"a\" runs at 4xQDR, but port "
                          "1 of \"b\" at 1xQDR on line 5"));
}

TEST(TopologyFaultTest, UnknownAlias) {
  EXPECT_THAT(FaultsOf("Ca 1 \"a\"\n[1] \"rack1@up\"\n"),
              ElementsAre("lab.net:2: no port has the alias \"rack1@up\""));
}

TEST(TopologyFaultTest, AnEmptyFile) {
  EXPECT_THAT(FaultsOf("# nothing\n"),
              ElementsAre(HasSubstr("lab.net:1: there is no node")));
}

TEST(TopologyFaultTest, TellsAllFaultsInTheOrderOfTheText) {
  EXPECT_THAT(FaultsOf(R"(Switch 8 "sw1"
[1] "h1"[1]
[9] "h1"[1]

Swich 8 "sw2"

Ca 1 "h2"
[1] "swl"[1]
)"),
              ElementsAre("lab.net:2: no node is named \"h1\": did you mean "
                          "\"h2\"?",
                          HasSubstr("lab.net:3: port 9"),
                          HasSubstr("lab.net:5: unknown keyword"),
                          HasSubstr("lab.net:8: no node is named \"swl\"")));
}

TEST(TopologyFaultTest, OneMistakeIsToldOnce) {
  EXPECT_THAT(FaultsOf("Swich 8 \"sw1\"\n[1] \"h1\"[1]\n\nCa 1 \"h1\"\n[1] "
                       "\"sw1\"[1]\n"),
              ElementsAre(HasSubstr("lab.net:1: unknown keyword \"Swich\"")));
  // The switch's header is wrong: that it has no port 1 follows from it.
  EXPECT_THAT(FaultsOf("Switch 500 \"sw1\"\n[1] \"h1\"[1]\n\nCa 1 \"h1\"\n[1] "
                       "\"sw1\"[1]\n"),
              ElementsAre(HasSubstr("lab.net:1: \"sw1\" has no proper")));
  EXPECT_THAT(FaultsOf("Switch 8 \"sw1\"\n[1] \"h1\"[1] z=1\n\nCa 1 \"h1\"\n"
                       "[1] \"sw1\"[1]\n"),
              ElementsAre(HasSubstr("lab.net:2: \"z=1\" is no option")));
}

TEST(TopologyFaultTest, CountsWhatIsTooMuchToTell) {
  std::string text;
  for (int i = 0; i < 250; ++i) text += "frobnicate\n";
  const std::vector<std::string> faults = FaultsOf(text);
  EXPECT_EQ(faults.size(), 101u);
  EXPECT_EQ(faults.back(), "and 150 more");
}

TEST(TopologyFaultTest, KeepsControlCharactersFromTheTerminal) {
  EXPECT_THAT(FaultsOf("\x1b[2J\n"),
              ElementsAre("lab.net:1: unknown keyword \"?[2J\""));
  EXPECT_LT(FaultsOf(std::string(100000, '%'))[0].size(), 500u);
}

}  // namespace
}  // namespace ibemu::topology
