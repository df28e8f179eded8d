// Which format a text is in.
#include "topology/formats/formats.h"

#include "gtest/gtest.h"
#include "topology/formats/text/glob.h"

namespace ibemu::topology {
namespace {

TEST(FormatsTest, TheNameTells) {
  EXPECT_EQ(DetectFormat("", "a.topo"), TextFormat::kIbdmTopology);
  EXPECT_EQ(DetectFormat("", "a.lst"), TextFormat::kSubnetList);
  EXPECT_EQ(DetectFormat("", "a.dot"), TextFormat::kDot);
  EXPECT_EQ(DetectFormat("", "a.gv"), TextFormat::kDot);
  EXPECT_EQ(DetectFormat("", "a.yml"), TextFormat::kSpec);
  EXPECT_EQ(DetectFormat("", "a.clab.yml"), TextFormat::kContainerlab);
  EXPECT_EQ(DetectFormat("", "a.clab.yaml"), TextFormat::kContainerlab);
  EXPECT_EQ(DetectFormat("", "a.json"), TextFormat::kSpec);
  EXPECT_EQ(DetectFormat("graph {}", "a.net"), TextFormat::kIbnetdiscover);
}

TEST(FormatsTest, ElseTheContentDoes) {
  const auto format = [](std::string_view text) {
    return DetectFormat(text, "standard input");
  };
  EXPECT_EQ(format("# a comment\n\n{ CA-SM Ports:01"), TextFormat::kSubnetList);
  EXPECT_EQ(format("{\n \"nodes\": []}"), TextFormat::kSpec);
  EXPECT_EQ(format("{\"nodes\": []}"), TextFormat::kSpec);
  EXPECT_EQ(format("# x\nnodes:\n"), TextFormat::kSpec);
  EXPECT_EQ(format("---\nnodes:\n"), TextFormat::kSpec);
  EXPECT_EQ(format("Digraph{"), TextFormat::kDot);
  EXPECT_EQ(format("// x\ngraph {"), TextFormat::kDot);
  EXPECT_EQ(format("graphics"), TextFormat::kIbnetdiscover);
  EXPECT_EQ(format("Gnu G CFG: a=R\n P1 -> X y P1"), TextFormat::kIbdmTopology);
  EXPECT_EQ(format("Switch 8 \"a\"\n[1] \"->\"[1]"),
            TextFormat::kIbnetdiscover);
  EXPECT_EQ(format(""), TextFormat::kIbnetdiscover);
}

TEST(GlobTest, StarsAndQuestionMarks) {
  EXPECT_TRUE(MatchesGlob("*", ""));
  EXPECT_TRUE(MatchesGlob("spine-*/1", "spine-12/1"));
  EXPECT_FALSE(MatchesGlob("spine-*/1", "spine-12/11"));
  EXPECT_TRUE(MatchesGlob("a?c", "abc"));
  EXPECT_FALSE(MatchesGlob("a?c", "ac"));
  EXPECT_TRUE(MatchesGlob("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(MatchesGlob("*a*b", "xxbxxa"));
  EXPECT_FALSE(MatchesGlob("", "a"));
}

}  // namespace
}  // namespace ibemu::topology
