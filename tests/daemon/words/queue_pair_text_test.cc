#include "daemon/words/queue_pair_text.h"

#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

TEST(QueuePairName, IsANodeAndANumber) {
  for (const char* text : {"node-1/0x12", "node-1/18"}) {
    const auto name = ParseQueuePairName(text);
    ASSERT_TRUE(name) << text;
    EXPECT_EQ(name->node, "node-1");
    EXPECT_EQ(name->qpn, 18u);
  }
}

TEST(QueuePairName, TheLastSlashCounts) {
  const auto name = ParseQueuePairName("rack 1/node 2/3");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->node, "rack 1/node 2");
  EXPECT_EQ(name->qpn, 3u);
}

TEST(QueuePairName, WithoutANumberThereIsNone) {
  for (const char* text :
       {"", "node-1", "node-1/", "node-1/mlx5_0", "/-1", "node-1/0x1000000"}) {
    EXPECT_FALSE(ParseQueuePairName(text)) << text;
  }
}

}  // namespace
}  // namespace ibemu::daemon
