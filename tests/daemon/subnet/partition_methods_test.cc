#include "daemon/subnet/partition_methods.h"

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::IsEmpty, ::testing::SizeIs;

// Twelve hosts on one switch.
class PartitionMethodsTest : public ::testing::Test, protected MethodCaller {
 protected:
  PartitionMethodsTest() { methods_.AddTo(dispatcher); }

  json Partitions() { return Result("partitions", json::object()); }
  void SetPKey(int host, int index, uint16_t p_key) {
    fabric::Subnet& subnet = lab_.subnet();
    subnet.port(subnet.port_id(lab_.Host(host), 1)).SetPKey(index, p_key);
  }

  testing::Lab lab_{testing::FromText("single-switch:hosts=12"),
                    testing::Lab::kStatically};
  PartitionMethods methods_{lab_.fabric};
};

TEST_F(PartitionMethodsTest, TheDefaultPartitionIsNotListed) {
  SetPKey(1, 1, 0x7fff);
  EXPECT_EQ(Partitions(), (json{{"partitions", json::array()}, {"others", 0}}));
}

TEST_F(PartitionMethodsTest, TheLargestComesFirstWithItsMembers) {
  SetPKey(1, 1, 0x8001);
  SetPKey(2, 5, 0x8002);
  SetPKey(3, 1, 0x0002);
  const json partitions = Partitions()["partitions"];
  ASSERT_THAT(partitions, SizeIs(2));
  EXPECT_EQ(partitions[0]["p_key"], "0x8002");
  ASSERT_THAT(partitions[0]["full"], SizeIs(1));
  EXPECT_EQ(partitions[0]["full"][0][1], 1);
  EXPECT_THAT(partitions[0]["limited"], SizeIs(1));
  EXPECT_NE(partitions[0]["limited"], partitions[0]["full"]);
  EXPECT_EQ(partitions[1]["p_key"], "0x8001");
  EXPECT_THAT(partitions[1]["limited"], IsEmpty());
}

TEST_F(PartitionMethodsTest, ThoseBeyondEightAreCounted) {
  for (uint16_t i = 1; i <= 11; ++i) SetPKey(1, i, 0x8000 + i);
  SetPKey(2, 1, 0x8011);
  const json result = Partitions();
  EXPECT_THAT(result["partitions"], SizeIs(PartitionMethods::kMax));
  EXPECT_EQ(result["partitions"][0]["p_key"], "0x8001");
  EXPECT_EQ(result["others"], 4);
}

}  // namespace
}  // namespace ibemu::daemon
