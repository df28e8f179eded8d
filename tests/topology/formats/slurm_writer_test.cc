// What golden/*/slurm.txt can't say of Slurm's topology.conf.
#include "topology/formats/slurm_writer.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/generators.h"

namespace ibemu::topology {
namespace {

using ::testing::HasSubstr;

TEST(SlurmWriterTest, AHostWithoutADescriptionHasItsName) {
  auto topology = GenerateTopology("single-switch:hosts=3");
  ASSERT_TRUE(topology.ok());
  topology->nodes[2].description = "";
  EXPECT_THAT(FormatSlurm(*topology),
              HasSubstr("SwitchName=switch-1 Nodes=H-021be00100000300,node-"));
}

}  // namespace
}  // namespace ibemu::topology
