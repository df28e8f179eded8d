// What golden/yaml can't say of specs.
#include "topology/formats/spec_reader.h"

#include <string>

#include "gtest/gtest.h"
#include "topology/formats/spec_writer.h"
#include "topology/generators.h"
#include "topology/ibnetdiscover_writer.h"

namespace ibemu::topology {
namespace {

TEST(SpecReaderTest, WhatIsWrittenComesBack) {
  for (const char* spec : {"back-to-back", "fat-tree:radix=4,levels=3",
                           "torus:3x2,speed=QDR", "dragonfly:width=1x"}) {
    auto topology = GenerateTopology(spec);
    ASSERT_TRUE(topology.ok());
    topology->nodes[0].description = "quote\" back\\slash: {x} # \x7f";
    topology->links[0].down = true;
    for (const std::string& text :
         {FormatSpecJson(*topology), FormatSpecYaml(*topology)}) {
      const auto again = ParseSpec(text, "a.yaml");
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_EQ(FormatSpecJson(*again), FormatSpecJson(*topology));
      EXPECT_EQ(FormatIbnetdiscover(*again), FormatIbnetdiscover(*topology));
    }
  }
}

}  // namespace
}  // namespace ibemu::topology
