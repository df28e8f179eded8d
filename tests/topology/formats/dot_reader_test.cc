// What golden/dot can't say of Graphviz's language.
#include "topology/formats/dot_reader.h"

#include <string>

#include "gtest/gtest.h"
#include "topology/formats/dot_writer.h"
#include "topology/generators.h"
#include "topology/ibnetdiscover_writer.h"

namespace ibemu::topology {
namespace {

absl::StatusOr<Topology> Dot(std::string_view text) {
  return ParseDot(text, "a.dot");
}

TEST(DotReaderTest, ATextWithoutALineEndHasALastLine) {
  EXPECT_EQ(Dot("graph {\n a -- b").status().message(),
            "a.dot:2: the text ends where a graph ends with \"}\"");
}

TEST(DotReaderTest, WhatIsWrittenComesBack) {
  for (const char* spec : {"back-to-back", "fat-tree:radix=4,levels=3",
                           "torus:3x2,speed=QDR", "dragonfly:width=1x"}) {
    const auto topology = GenerateTopology(spec);
    ASSERT_TRUE(topology.ok());
    const auto again = Dot(FormatDot(*topology));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(FormatIbnetdiscover(*again), FormatIbnetdiscover(*topology));
    EXPECT_EQ(FormatDot(*again), FormatDot(*topology));
  }
}

TEST(DotReaderTest, AnyDescriptionComesBack) {
  for (const std::string description :
       {"a\"b", "back\\slash", "both\\\"", "end\\", "\\N", "two  blanks"}) {
    auto topology = GenerateTopology("back-to-back");
    ASSERT_TRUE(topology.ok());
    topology->nodes[0].description = description;
    const auto again = Dot(FormatDot(*topology));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->nodes[0].description, description);
  }
}

}  // namespace
}  // namespace ibemu::topology
