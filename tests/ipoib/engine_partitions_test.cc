// Interfaces of full and limited members of a partition.
#include <memory>

#include "fabric/soft_hca/hca.h"
#include "ipoib/group_record.h"
#include "ipoib/multicast_gid.h"
#include "tests/ipoib/engine_lab.h"

namespace ibemu::ipoib {
namespace {

constexpr uint16_t kFull = 0xffff, kLimited = 0x7fff;

// Host 1 is a full member, the others are limited ones.
class EnginePartitionsTest : public EngineTest {
 protected:
  EnginePartitionsTest() {
    for (const int host : {2, 3}) SetPKey(host, 0, kLimited);
    for (const int host : {1, 2, 3}) {
      hosts_[host] = std::make_unique<EngineHost>(lab_, host);
    }
    Settle();
  }

  void SetPKey(int host, int index, uint16_t p_key) {
    lab_.PortOf(lab_.Host(host), 1).SetPKey(index, p_key);
  }
  // The same, while the interface is there.
  void ChangePKey(int host, int index, uint16_t p_key) {
    SetPKey(host, index, p_key);
    auto& subnet = lab_.subnet();
    static_cast<fabric::Hca&>(lab_.Provider(host))
        .OnPortChange(subnet.port_id(subnet.node(lab_.Host(host)), 1));
    Settle();
  }
  Engine& At(int host) { return hosts_[host]->engine; }
  // Whether one host finds another by ARP, and by ND.
  bool Finds(int from, int to) {
    const auto by_arp = Resolve(At(from), EngineHost::Ipv4(to));
    const auto by_nd = Resolve(At(from), EngineHost::Ipv6(to));
    Settle(absl::Seconds(3));
    EXPECT_EQ(by_arp->Is(At(to).gid()), by_nd->Is(At(to).gid()));
    return by_arp->Is(At(to).gid());
  }

  std::unique_ptr<EngineHost> hosts_[4];
};

// RFC 4391 §9.1: a group has the key of a full member, whoever joins.
TEST_F(EnginePartitionsTest, ALimitedMemberJoinsTheBroadcastGroup) {
  for (const int host : {1, 2, 3}) {
    ASSERT_TRUE(At(host).up());
    EXPECT_EQ(At(host).pkey(), kFull);
    EXPECT_EQ(At(host).broadcast_group()->mgid.prefix, 0xff12'401b'ffff'0000u);
  }
}

TEST_F(EnginePartitionsTest, FullAndLimitedMembersFindEachOther) {
  EXPECT_TRUE(Finds(1, 2));
  EXPECT_TRUE(Finds(3, 1));
}

TEST_F(EnginePartitionsTest, TwoLimitedMembersDoNotFindEachOther) {
  EXPECT_FALSE(Finds(2, 3));
}

TEST_F(EnginePartitionsTest, AHostWithBothKeysIsAFullMember) {
  hosts_[2].reset();
  SetPKey(2, 1, kFull);
  hosts_[2] = std::make_unique<EngineHost>(lab_, 2);
  Settle();
  EXPECT_TRUE(Finds(2, 3));
}

TEST_F(EnginePartitionsTest, AKeyThatComesLaterIsTaken) {
  ChangePKey(2, 1, kFull);
  EXPECT_TRUE(Finds(2, 3));
  ChangePKey(2, 1, 0);
  EXPECT_TRUE(At(2).up());
  EXPECT_TRUE(Finds(2, 1));
  EXPECT_FALSE(Finds(2, 3));
}

TEST_F(EnginePartitionsTest, WithoutAPartitionTheInterfaceIsDown) {
  ChangePKey(2, 0, 0);
  EXPECT_FALSE(At(2).up());
  ChangePKey(2, 0, kLimited);
  // Nobody heard that it left the group, which it says three times.
  Settle(absl::Seconds(10));
  EXPECT_TRUE(At(2).up());
  EXPECT_TRUE(Finds(1, 2));
}

// Hosts with an interface in partition 1, which nobody's first P_Key names.
class FurtherPartitionTest : public EngineTest {
 protected:
  FurtherPartitionTest() {
    for (const int host : {1, 2}) {
      lab_.PortOf(lab_.Host(host), 1).SetPKey(1, kPKey);
    }
    for (const int host : {1, 2, 3}) {
      hosts_[host] = std::make_unique<EngineHost>(lab_, host, 1);
    }
    // opensm makes the broadcast group of a partition; here a member does.
    group_ = hosts_[1]->members.Join(
        {.mgid = BroadcastGid(kPKey),
         .port_gid = At(1).gid(),
         .q_key = 0xb1b,
         .mtu_selector = mad::Selector::kExactly,
         .mtu = 4,
         .p_key = kPKey,
         .rate_selector = mad::Selector::kExactly,
         .rate = 3,
         .join_state = mad::kFullMember},
        kGroupMask, [](const absl::StatusOr<mad::McMemberRecord>& made) {
          EXPECT_TRUE(made.ok()) << made.status();
        });
    Settle(absl::Seconds(30));
  }
  Engine& At(int host) { return hosts_[host]->engine; }

  static constexpr uint16_t kPKey = 0x8001;

  std::unique_ptr<EngineHost> hosts_[4];
  std::unique_ptr<mad::MulticastMembership> group_;
};

TEST_F(FurtherPartitionTest, ItsMembersFindEachOther) {
  ASSERT_TRUE(At(1).up());
  EXPECT_EQ(At(1).pkey(), kPKey);
  EXPECT_EQ(At(1).broadcast_group()->mgid.prefix, 0xff12'401b'8001'0000u);
  const auto found = Resolve(At(1), EngineHost::Ipv4(2));
  Settle();
  EXPECT_TRUE(found->Is(At(2).gid()));
}

TEST_F(FurtherPartitionTest, WhoIsNotInItHasNoLink) {
  EXPECT_FALSE(At(3).up());
  EXPECT_EQ(At(3).mtu(), 0u);
}

}  // namespace
}  // namespace ibemu::ipoib
