// Groups of a partition that has full and limited members: who hears whom, and
// where the packets of the others end (IBA vol 1 §10.9.3, §18.2.4.2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using testing::Inbox, testing::Lab, testing::LidGet;
using wire::Lid;

constexpr Lid kGroup{0xc001};
constexpr int kHosts = 4;
constexpr uint16_t kFullKey = 0xffff, kLimitedKey = 0x7fff;

// Hosts 1 and 2 are full members, 3 and 4 limited ones; the parameters are what
// the switch enforces: inbound, outbound.
class MulticastPartitionsTest
    : public ::testing::TestWithParam<std::tuple<bool, bool>> {
 protected:
  MulticastPartitionsTest() {
    for (int host = 1; host <= kHosts; ++host) {
      // A subnet manager gives the port of the switch the table of its host.
      EndPort(host).SetPKey(0, KeyOf(host));
      SwitchPort(host).SetPKey(0, KeyOf(host));
      SwitchPort(host).info.partition_enforcement_inbound = inbound();
      SwitchPort(host).info.partition_enforcement_outbound = outbound();
      lab_.subnet().node(lab_.Switch(1)).sw->multicast.Set(kGroup, host, true);
      lab_.HostPort(host).SetListener(&inboxes_[host]);
    }
  }

  static bool inbound() { return std::get<0>(GetParam()); }
  static bool outbound() { return std::get<1>(GetParam()); }
  static bool IsFull(int host) { return host <= 2; }
  static uint16_t KeyOf(int host) {
    return IsFull(host) ? kFullKey : kLimitedKey;
  }
  NodePort& EndPort(int host) { return lab_.PortOf(lab_.Host(host), 1); }
  NodePort& SwitchPort(int host) { return lab_.PortOf(lab_.Switch(1), host); }

  // Sends to the group; returns the hosts that get it, as text: "2 3 ".
  std::string HeardFrom(int sender) {
    for (Inbox& inbox : inboxes_) inbox.arrivals.clear();
    lab_.Transmit(sender, LidGet(1, mad::MgmtClass::kSubnetAdministration,
                                 kGroup, mad::AttributeId::kClassPortInfo));
    lab_.timers.RunPending();
    std::string heard;
    for (int host = 1; host <= kHosts; ++host) {
      for (size_t i = 0; i < inboxes_[host].arrivals.size(); ++i) {
        heard += std::to_string(host) + " ";
      }
    }
    return heard;
  }
  // Returns the packets that were dropped at the end ports, and at the ports of
  // the switch as they came and as they were to leave.
  std::tuple<int, uint64_t, uint64_t> Dropped() {
    std::tuple<int, uint64_t, uint64_t> dropped;
    for (int host = 1; host <= kHosts; ++host) {
      std::get<0>(dropped) += EndPort(host).info.p_key_violations;
      const EventCounters& counted = SwitchPort(host).Events();
      std::get<1>(dropped) += counted.rcv_constraint_errors;
      std::get<2>(dropped) += counted.xmit_constraint_errors;
    }
    return dropped;
  }

  Lab lab_{"single-switch:hosts=4", Lab::kStatically};
  Inbox inboxes_[1 + kHosts];
};

std::string NameOfEnforcement(
    const ::testing::TestParamInfo<std::tuple<bool, bool>>& info) {
  const auto [inbound, outbound] = info.param;
  if (inbound) return outbound ? "BothWays" : "Inbound";
  return outbound ? "Outbound" : "Nowhere";
}

INSTANTIATE_TEST_SUITE_P(Enforced, MulticastPartitionsTest,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Bool()),
                         NameOfEnforcement);

TEST_P(MulticastPartitionsTest, EverybodyHearsAFullMember) {
  EXPECT_EQ(HeardFrom(1), "2 3 4 ");
  EXPECT_EQ(HeardFrom(2), "1 3 4 ");
  EXPECT_EQ(Dropped(), std::tuple(0, 0, 0));
}

// What a limited member sends may come in, and is dropped before each other.
TEST_P(MulticastPartitionsTest, OnlyFullMembersHearALimitedOne) {
  EXPECT_EQ(HeardFrom(3), "1 2 ");
  EXPECT_EQ(HeardFrom(4), "1 2 ");
  EXPECT_EQ(Dropped(), outbound() ? std::tuple(0, 0, 2) : std::tuple(2, 0, 0));
}

// Its own table says otherwise than that of the switch.
TEST_P(MulticastPartitionsTest, ALimitedMemberThatSendsAsAFullOneIsKeptOut) {
  EndPort(3).SetPKey(0, kFullKey);
  EXPECT_EQ(HeardFrom(3), inbound() ? "" : "1 2 4 ");
  EXPECT_EQ(Dropped(), std::tuple(0, inbound() ? 1 : 0, 0));
}

TEST_P(MulticastPartitionsTest, WhoIsInAnotherPartitionNeitherHearsNorIsHeard) {
  EndPort(2).SetPKey(0, 0x8001);
  SwitchPort(2).SetPKey(0, 0x8001);
  EXPECT_EQ(HeardFrom(1), "3 4 ");
  EXPECT_EQ(Dropped(), outbound() ? std::tuple(0, 0, 1) : std::tuple(1, 0, 0));
  EXPECT_EQ(HeardFrom(2), "");
}

// A table of both keys is that of a full member.
TEST_P(MulticastPartitionsTest, AMemberWithBothKeysHearsEverybody) {
  EndPort(3).SetPKey(1, kFullKey);
  SwitchPort(3).SetPKey(0, kFullKey);
  EXPECT_EQ(HeardFrom(4), "1 2 3 ");
  EXPECT_EQ(HeardFrom(3), "1 2 ") << "it sends with the key at index 0";
}

}  // namespace
}  // namespace ibemu::fabric
