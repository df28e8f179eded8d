#include "cli/lab/lab_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace ibemu::cli {
namespace {

using ::testing::Contains, ::testing::ElementsAre, ::testing::HasSubstr,
    ::testing::IsEmpty, ::testing::Pair, ::testing::SizeIs;

LabPlan ParseSound(const std::string& text) {
  topology::FaultList faults;
  LabPlan plan = ParseLab(text, "rack/ring.yaml", faults);
  EXPECT_TRUE(faults.ToStatus().ok()) << faults.ToStatus();
  return plan;
}

std::string FaultsOf(const std::string& text) {
  topology::FaultList faults;
  ParseLab(text, "ring.yaml", faults);
  return std::string(faults.ToStatus().message());
}

TEST(LabParserTest, ACommandOfAHostIsEnough) {
  const LabPlan plan = ParseSound("hosts: {node-1: ibstat -l}");
  EXPECT_EQ(plan.name, "ring");  // the file's
  EXPECT_EQ(plan.topology, "");
  EXPECT_EQ(plan.sm, std::nullopt);
  EXPECT_EQ(plan.timeout, absl::InfiniteDuration());
  ASSERT_THAT(plan.programs, SizeIs(1));
  const LabProgram& program = plan.programs[0];
  EXPECT_EQ(program.label, "node-1");
  EXPECT_EQ(program.line, 1);
  EXPECT_EQ(program.kind, LabProgram::Kind::kCommand);
  EXPECT_THAT(
      program.arguments,
      ElementsAre("run", "--host=node-1", "--explain", "--", "stdbuf", "-oL",
                  "sh", "-c", "trap 'exit 143' TERM\nibstat -l"));
  EXPECT_THAT(program.after, IsEmpty());
}

TEST(LabParserTest, TheFabricHasTheOptionsOfIbemud) {
  const LabPlan plan = ParseSound(R"(
name: rack
topology: fat-tree:radix=8,levels=2
sm: none
seed: 18446744073709551615
addresses: 10.0.0.0/8
timeout: 1m30s
hosts: {node-1: ibstat}
)");
  EXPECT_EQ(plan.name, "rack");
  EXPECT_EQ(plan.topology, "fat-tree:radix=8,levels=2");
  EXPECT_EQ(plan.sm, "none");
  EXPECT_EQ(plan.seed, UINT64_MAX);
  EXPECT_EQ(plan.addresses, "10.0.0.0/8");
  EXPECT_EQ(plan.timeout, absl::Seconds(90));
}

TEST(LabParserTest, AFabricMayBeOpenToOtherMachines) {
  const LabPlan plan = ParseSound(
      "listen: 10.0.0.1:7471\ncerts: lab/head\nhosts: {node-1: ibstat}");
  EXPECT_EQ(plan.listen, "10.0.0.1:7471");
  EXPECT_EQ(plan.listen_line, 1);
  EXPECT_EQ(plan.certificates, "lab/head");
  EXPECT_EQ(plan.join, "");
}

TEST(LabParserTest, AnEmptyAddressToListenAtIsAMistake) {
  EXPECT_EQ(FaultsOf("listen: ''\nhosts: {node-1: ibstat}"),
            "ring.yaml:1: listen: \"\": it is an address, a port, or "
            "ADDRESS:PORT");
}

TEST(LabParserTest, ALabMayJoinTheFabricOfAnother) {
  const LabPlan plan = ParseSound(R"(
join: head
hosts: {'node-[2-3]': ibstat, any: ibstat}
)");
  EXPECT_EQ(plan.name, "ring");
  EXPECT_EQ(plan.join, "head");
  EXPECT_EQ(plan.join_line, 2);
  EXPECT_EQ(plan.certificates, "");  // the machine's usual ones
  EXPECT_EQ(plan.listen, std::nullopt);
  ASSERT_THAT(plan.programs, SizeIs(3));
  EXPECT_THAT(plan.programs[2].arguments, Contains("--host=any"));
}

TEST(LabParserTest, WhatBelongsToAnothersSubnetIsNotSaidHere) {
  const std::string faults = FaultsOf(R"(join: head
topology: back-to-back
sm: none
seed: 5
addresses: 10.0.0.0/8
listen: 7471
scenario: flap.yaml
hosts: {node-1: ibstat}
)");
  int line = 2;
  for (const char* key :
       {"topology", "sm", "seed", "addresses", "listen", "scenario"}) {
    EXPECT_THAT(faults, HasSubstr(absl::StrCat(
                            "ring.yaml:", line++, ": ", key,
                            ": it belongs to the fabric that \"join\" names: "
                            "say it there")));
  }
}

TEST(LabParserTest, CertificatesAreForOtherMachines) {
  EXPECT_EQ(FaultsOf("hosts: {node-1: ibstat}\ncerts: lab"),
            "ring.yaml:2: certs: they go together with \"join\" or \"listen\", "
            "and there is neither");
  EXPECT_EQ(
      FaultsOf("join: ''\nhosts: {node-1: ibstat}"),
      "ring.yaml:1: join: \"\": it is another machine, as in head:7471, or "
      "a fabric of this one");
  EXPECT_THAT(FaultsOf("join: [head]\nhosts: {node-1: ibstat}"),
              HasSubstr("ring.yaml:1: join: it is one word"));
}

TEST(LabParserTest, AProgramHasTheOptionsOfIbemuRun) {
  const LabPlan plan = ParseSound(R"(
hosts:
  node-1:
    run: [rping, -s, "-a", 0.0.0.0]
    service: true
    ready: listening
    net: true
    lint: true
    explain: false
    profile: hfi1
    hostname: storage
    state: kept
    outside: pasta
    environment: {UCX_TLS: rc_v}
)");
  const LabProgram& program = plan.programs.at(0);
  EXPECT_EQ(program.kind, LabProgram::Kind::kService);
  EXPECT_EQ(program.ready, "listening");
  EXPECT_THAT(
      program.arguments,
      ElementsAre("run", "--host=node-1", "--net", "--lint", "--profile=hfi1",
                  "--hostname=storage", "--state=kept", "--outside=pasta", "--",
                  "stdbuf", "-oL", "rping", "-s", "-a", "0.0.0.0"));
  EXPECT_THAT(program.environment, Contains(Pair("UCX_TLS", "rc_v")));
}

TEST(LabParserTest, ANetworkMayHavePartitions) {
  const LabPlan plan = ParseSound(
      "hosts: {node-1: {run: a, net: 8001}, node-2: {run: b, net: '0x8001,2'}, "
      "node-3: {run: c, net: false}}");
  ASSERT_THAT(plan.programs, SizeIs(3));
  EXPECT_THAT(plan.programs[0].arguments, Contains("--net=8001"));
  EXPECT_THAT(plan.programs[1].arguments, Contains("--net=0x8001,2"));
  EXPECT_THAT(plan.programs[2].arguments, Not(Contains(HasSubstr("--net"))));
}

TEST(LabParserTest, AHostMayHaveSeveralProgramsAndOneMayWaitForThemAll) {
  const LabPlan plan = ParseSound(R"(
hosts:
  node-3: {run: c, after: [node-1, node-2]}
  node-1: [a, {run: b, ready: x}]
  node-2: {run: d, after: node-1}
scenario: {file: flap.yaml, after: node-2}
)");
  ASSERT_THAT(plan.programs, SizeIs(5));
  EXPECT_THAT(plan.programs[0].after, ElementsAre(1, 2, 3));
  EXPECT_THAT(plan.programs[3].after, ElementsAre(1, 2));
  const LabProgram& scenario = plan.programs[4];
  EXPECT_EQ(scenario.kind, LabProgram::Kind::kScenario);
  EXPECT_THAT(scenario.arguments, ElementsAre("scenario", "flap.yaml"));
  EXPECT_THAT(scenario.after, ElementsAre(3));
}

TEST(LabParserTest, AProgramMayWaitForAnotherOneOfItsHost) {
  const LabPlan plan = ParseSound(
      "hosts: {node-1: [{run: opensm, service: true, ready: UP}, "
      "{run: ibstat, after: node-1}]}");
  EXPECT_THAT(plan.programs.at(1).after, ElementsAre(0));
}

TEST(LabParserTest, EachMistakeIsToldWithItsLine) {
  const std::string faults = FaultsOf(R"(topologie: back-to-back
timeout: soon
seed: -1
hosts:
  node-1: {run: opensm, service: true}
  node-2: {run: [a, [b]], after: node-1}
  node-3: {after: node-4}
  node-5: {run: a, net: maybe, after: node-5}
  node-6: []
  node-7: {run: a, ready: "", environment: {A=B: c, D: [e]}}
scenario: []
)");
  for (const char* fault : {
           "ring.yaml:1: a lab has no key \"topologie\"",
           "did you mean \"topology\"?",
           "ring.yaml:2: timeout: \"soon\": it is a time above 0",
           "ring.yaml:3: seed: \"-1\": it is a whole number below 2^64",
           "ring.yaml:5: node-2 waits for this service of node-1: ",
           "of node-1: it needs \"ready\"",
           "ring.yaml:6: node-2: what it is to run is missing",
           "ring.yaml:7: node-3: what it is to run is missing",
           "ring.yaml:7: after: \"node-4\" runs nothing in this lab",
           "ring.yaml:8: net: \"maybe\": it is true, false, or P_Keys, "
           "switches and connected, as in 8001,ether:blue,connected",
           "ring.yaml:8: after: node-5 would wait for itself",
           "ring.yaml:9: node-6: the list has no command",
           "ring.yaml:10: ready: \"\": every line has no text in it",
           "ring.yaml:10: \"A=B\": the name of a variable has no \"=\"",
           "ring.yaml:10: D: the value of a variable is a text",
           "ring.yaml:11: scenario: it is the name of a file",
       }) {
    EXPECT_THAT(faults, HasSubstr(fault));
  }
}

TEST(LabParserTest, AHostThatIsNamedTwiceIsWaitedForOnce) {
  const LabPlan plan = ParseSound(
      "hosts: {node-1: a, node-2: {run: b, after: [node-1, 'node-[1]']}}");
  EXPECT_THAT(plan.programs.at(1).after, ElementsAre(0));
}

TEST(LabParserTest, AListOfBillionsIsRefused) {
  std::string text = "hosts: {node-1: {run: a, after: [";
  for (int i = 0; i < 200; ++i) absl::StrAppend(&text, "'x", i, "[1-1000]', ");
  EXPECT_THAT(FaultsOf(text + "b]}}"),
              HasSubstr("after: too many hosts are waited for"));
}

TEST(LabParserTest, CyclesAreFound) {
  const std::string faults = FaultsOf(R"(hosts:
  node-1: {run: a, after: node-2}
  node-2: {run: a, after: node-3}
  node-3: {run: a, after: node-2}
  node-4: a
)");
  for (const int line : {2, 3, 4}) {
    EXPECT_THAT(faults, HasSubstr(absl::StrCat("ring.yaml:", line, ": node-",
                                               line - 1, " never starts")));
  }
  EXPECT_THAT(faults, ::testing::Not(HasSubstr("node-4")));
}

TEST(LabParserTest, WhatIsNoLabIsRefused) {
  EXPECT_THAT(FaultsOf(""), HasSubstr("ring.yaml:1: a lab is a map"));
  EXPECT_THAT(FaultsOf("[a]"), HasSubstr("a lab is a map"));
  EXPECT_THAT(FaultsOf("sm: none"), HasSubstr("the lab has no \"hosts\""));
  EXPECT_THAT(FaultsOf("hosts: 5"), HasSubstr("it is a map of commands"));
  EXPECT_THAT(FaultsOf("hosts: {a: b"), HasSubstr("ring.yaml:"));
  EXPECT_THAT(FaultsOf("name: a/b\nhosts: {a: b}"),
              HasSubstr("the name of a fabric has letters"));
}

TEST(LabParserTest, ALabHasAtMostAThousandPrograms) {
  std::string text = "hosts:\n  node-1:\n";
  for (size_t i = 0; i < kMaxLabPrograms; ++i) text += "  - ibstat\n";
  EXPECT_EQ(FaultsOf(text), "");
  EXPECT_THAT(FaultsOf(text + "  - ibstat\n"),
              HasSubstr("a lab has at most 1000 programs"));
  EXPECT_EQ(FaultsOf("hosts: {'n[1-1000]': ibstat}"), "");
  EXPECT_THAT(FaultsOf("hosts: {'n[1-999]': [ibstat, ibstat]}"),
              HasSubstr("a lab has at most 1000 programs"));
}

TEST(LabParserTest, SeveralHostsMayRunTheSame) {
  const LabPlan plan = ParseSound(R"(
hosts:
  node-[1-2,4]: ibstat
  node-3: {run: a, after: "node-[2,4]"}
)");
  ASSERT_THAT(plan.programs, SizeIs(4));
  EXPECT_EQ(plan.programs[2].label, "node-4");
  EXPECT_EQ(plan.programs[2].line, 3);
  EXPECT_THAT(plan.programs[2].arguments, Contains("--host=node-4"));
  EXPECT_THAT(plan.programs[3].after, ElementsAre(1, 2));
  EXPECT_THAT(FaultsOf("hosts: {'node-[': a}"),
              HasSubstr("ring.yaml:1: \"node-[\": a list of hosts"));
}

}  // namespace
}  // namespace ibemu::cli
