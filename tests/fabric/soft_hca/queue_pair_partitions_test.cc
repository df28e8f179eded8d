// Queue pairs of ports in several partitions, as full and limited members
// (IBA vol 1 §10.9.3).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "tests/fabric/verbs_pair.h"

namespace ibemu::fabric {
namespace {

using verbs::QpType;

class QueuePairPartitionsTest : public VerbsPair {
 protected:
  NodePort& PortOf(int host) { return lab_.PortOf(lab_.Host(host), 1); }
  // Sends a message on an unreliable connection; returns whether it came.
  bool Comes() {
    EXPECT_TRUE(b_->Receive(0, 10).ok());
    EXPECT_TRUE(a_->Send(0, 10).ok());
    Settle();
    return !b_->Poll().empty();
  }
};

// The port is in two partitions, its queue pair in one.
TEST_F(QueuePairPartitionsTest, TakesWhatIsOfItsOwnPartitionOnly) {
  Connect(QpType::kUc);
  PortOf(2).SetPKey(0, 0x8001);
  PortOf(2).SetPKey(1, 0xffff);
  EXPECT_FALSE(Comes());
  EXPECT_EQ(PortOf(2).info.p_key_violations, 1);
  PortOf(1).SetPKey(0, 0x0001);
  EXPECT_TRUE(Comes());
  EXPECT_EQ(PortOf(2).info.p_key_violations, 1);
}

TEST_F(QueuePairPartitionsTest, TwoWithLimitedKeysHearNothingOfEachOther) {
  Connect(QpType::kUc);
  for (const int host : {1, 2}) {
    PortOf(host).SetPKey(0, 0x7fff);
    PortOf(host).SetPKey(1, 0xffff);
  }
  EXPECT_FALSE(Comes());
  PortOf(1).SetPKey(0, 0xffff);
  EXPECT_TRUE(Comes()) << "one of both is a full member";
}

// Members of a group on two hosts.
class PartitionedGroupTest : public QueuePairPartitionsTest {
 protected:
  PartitionedGroupTest() {
    for (const int port : {1, 2}) {
      lab_.subnet()
          .node(lab_.Switch(1))
          .sw->multicast.Set(wire::Lid{kLid}, port, true);
    }
    a_ = Member(1);
    b_ = Member(2);
  }

  std::unique_ptr<VerbsEnd> Member(int host) {
    auto member = End(lab_.Host(host), QpType::kUd);
    member->Connect(VerbsEnd::Towards(0, 0));
    EXPECT_TRUE(member->Receive(0, 100).ok());
    EXPECT_TRUE(member->qp->AttachMulticast(kGroup, kLid).ok());
    return member;
  }
  void SendToGroup(VerbsEnd& from) {
    verbs::AddressAttributes to{};
    to.dlid = kLid;
    to.port_num = 1;
    to.is_global = 1;
    std::ranges::copy(kGroup, to.grh.dgid);
    const auto handle = *from.provider.CreateAh(*from.pd, to);
    verbs::SendRequest request = from.Request(IB_UVERBS_WR_SEND, 0, 8, kSent);
    request.address = handle.get();
    request.work.wr.ud.remote_qpn = 0xffffff;
    request.work.wr.ud.remote_qkey = VerbsEnd::kQKey;
    ASSERT_TRUE(from.Post(std::move(request)).ok());
    Settle();
  }
  // Returns how many messages a member got since it was asked last.
  static int Heard(VerbsEnd& member) {
    int heard = 0;
    for (const auto& completion : member.Poll()) {
      if (completion.wr_id == kSent) continue;
      ++heard;
      EXPECT_TRUE(member.Receive(0, 100).ok());
    }
    return heard;
  }

  static constexpr uint16_t kLid = 0xc001;
  static constexpr verbs::GidBytes kGroup{0xff, 0x12};
  static constexpr uint64_t kSent = 7;
};

TEST_F(PartitionedGroupTest, FullMembersHearLimitedOnesAndTheOtherWayRound) {
  PortOf(2).SetPKey(0, 0x7fff);
  SendToGroup(*a_);
  EXPECT_EQ(Heard(*b_), 1);
  EXPECT_EQ(Heard(*a_), 1) << "itself";
  SendToGroup(*b_);
  EXPECT_EQ(Heard(*a_), 1);
  EXPECT_EQ(PortOf(1).info.p_key_violations, 0);
}

// Its own packets violate nothing: they are what an IP interface sends to ask
// for its neighbours.
TEST_F(PartitionedGroupTest, ALimitedMemberDoesNotHearItselfNorCountsThat) {
  PortOf(1).SetPKey(0, 0x7fff);
  SendToGroup(*a_);
  EXPECT_EQ(Heard(*a_), 0);
  EXPECT_EQ(PortOf(1).info.p_key_violations, 0);
  EXPECT_EQ(Heard(*b_), 1);
}

TEST_F(PartitionedGroupTest, LimitedMembersDoNotHearEachOther) {
  for (const int host : {1, 2}) PortOf(host).SetPKey(0, 0x7fff);
  SendToGroup(*a_);
  EXPECT_EQ(Heard(*b_), 0);
  EXPECT_EQ(PortOf(2).info.p_key_violations, 1);
}

// The port is a full member of the partition, that member is of another.
TEST_F(PartitionedGroupTest, AMemberOfAnotherPartitionIsPassedOver) {
  PortOf(2).SetPKey(0, 0x8001);
  PortOf(2).SetPKey(1, 0xffff);
  SendToGroup(*a_);
  EXPECT_EQ(Heard(*b_), 0);
  EXPECT_EQ(PortOf(2).info.p_key_violations, 0) << "others may be meant";
}

}  // namespace
}  // namespace ibemu::fabric
