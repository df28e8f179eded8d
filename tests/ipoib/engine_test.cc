// Interfaces of a managed subnet, which find each other by ARP and ND.
#include "ipoib/engine.h"

#include "tests/ipoib/engine_lab.h"

namespace ibemu::ipoib {
namespace {

class TwoEnginesTest : public EngineTest {
 protected:
  TwoEnginesTest() { Settle(); }

  EngineHost one_{lab_, 1}, two_{lab_, 2};
};

TEST_F(TwoEnginesTest, AreUpOnceTheyHaveJoinedTheBroadcastGroup) {
  EXPECT_TRUE(one_.engine.up());
  ASSERT_NE(one_.engine.broadcast_group(), nullptr);
  EXPECT_EQ(one_.engine.broadcast_group()->q_key, 0xb1bu);
  EXPECT_EQ(one_.engine.pkey(), 0xffff);
}

TEST_F(TwoEnginesTest, ResolveEachOther) {
  const auto forth = Resolve(one_.engine, EngineHost::Ipv4(2));
  const auto back = Resolve(two_.engine, EngineHost::Ipv4(1));
  Settle();
  EXPECT_TRUE(forth->Is(two_.engine.gid()));
  EXPECT_TRUE(back->Is(one_.engine.gid()));
}

TEST_F(TwoEnginesTest, ResolveEachOtherByNeighborDiscovery) {
  const auto forth = Resolve(one_.engine, EngineHost::Ipv6(2));
  const auto back = Resolve(two_.engine, EngineHost::Ipv6(1));
  Settle();
  EXPECT_TRUE(forth->Is(two_.engine.gid()));
  EXPECT_TRUE(back->Is(one_.engine.gid()));
}

}  // namespace
}  // namespace ibemu::ipoib
