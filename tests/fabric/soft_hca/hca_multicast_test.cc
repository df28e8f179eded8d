#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "fabric/soft_hca/hca.h"
#include "tests/fabric/verbs_peer.h"

namespace ibemu::fabric {
namespace {

using verbs::QpType;

constexpr uint16_t kLid = 0xc001;
constexpr uint32_t kEveryone = 0xffffff;

// Two hosts with two switches between them; the switches know the group.
class HcaMulticastTest : public ::testing::Test {
 protected:
  HcaMulticastTest() {
    row_.Configure();
    for (const int number : {1, 2}) {
      Node& node = row_.fabric.subnet().node(RowFabric::Switch(number));
      for (const int port : {1, 2}) {
        node.sw->multicast.Set(wire::Lid{kLid}, port, true);
      }
    }
    group_[0] = 0xff;
    group_[1] = 0x12;
    group_[15] = 1;
  }

  // A peer that has room for ten datagrams.
  std::unique_ptr<VerbsPeer> Peer(topology::NodeId node) {
    auto peer = std::make_unique<VerbsPeer>(row_, node, QpType::kUd);
    peer->Connect(*peer, 0);
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(peer->Receive(0, 1000).ok());
    return peer;
  }
  void Attach(VerbsPeer& peer) {
    ASSERT_TRUE(peer.qp->AttachMulticast(group_, kLid).ok());
  }
  void Send(VerbsPeer& from, const verbs::GidBytes& group, uint16_t lid) {
    verbs::AddressAttributes to{};
    to.dlid = lid;
    to.port_num = 1;
    to.is_global = 1;
    std::copy(group.begin(), group.end(), to.grh.dgid);
    const auto ah = *from.provider.CreateAh(*from.pd, to);
    from.memory->Put(5000, "to all");
    verbs::SendRequest request = from.Request(IB_UVERBS_WR_SEND, 5000, 6);
    request.address = ah.get();
    request.work.wr.ud.remote_qpn = kEveryone;
    request.work.wr.ud.remote_qkey = 0x1234;
    ASSERT_TRUE(from.Post(std::move(request)).ok());
    row_.timers.RunPending();
  }
  // How many datagrams it got.
  static size_t Received(VerbsPeer& peer) {
    size_t count = 0;
    for (const auto& completion : peer.Poll()) {
      if (completion.wr_id == 100) ++count;
    }
    return count;
  }

  RowFabric row_{2};
  verbs::GidBytes group_{};
};

TEST_F(HcaMulticastTest, AMessageComesToAllThatAreAttached) {
  const auto sender = Peer(row_.host_1);
  const auto near = Peer(row_.host_1), far = Peer(row_.host_2);
  const auto too = Peer(row_.host_2), stranger = Peer(row_.host_2);
  for (VerbsPeer* const peer : {near.get(), far.get(), too.get()}) {
    Attach(*peer);
  }
  Send(*sender, group_, kLid);
  EXPECT_EQ(Received(*near), 1u);
  EXPECT_EQ(Received(*far), 1u);
  EXPECT_EQ(Received(*too), 1u);
  EXPECT_EQ(Received(*stranger), 0u);
  EXPECT_EQ(Received(*sender), 0u) << "it is not attached";
  EXPECT_EQ(far->memory->Text(40, 6), "to all");
}

TEST_F(HcaMulticastTest, WhoIsAttachedHearsItself) {
  const auto peer = Peer(row_.host_1);
  Attach(*peer);
  Send(*peer, group_, kLid);
  EXPECT_EQ(Received(*peer), 1u);
  peer->qp->DetachMulticast(group_, kLid);
  Send(*peer, group_, kLid);
  EXPECT_EQ(Received(*peer), 0u);
}

TEST_F(HcaMulticastTest, GroupsOfOneLidAreToldApartByTheirGid) {
  const auto sender = Peer(row_.host_1), other = Peer(row_.host_2);
  Attach(*other);
  verbs::GidBytes another = group_;
  another[15] = 2;
  Send(*sender, another, kLid);
  EXPECT_EQ(Received(*other), 0u);
}

TEST_F(HcaMulticastTest, OnlyDatagramsAndGroupAddressesCanBeAttached) {
  VerbsPeer connected(row_, row_.host_1, QpType::kRc);
  EXPECT_TRUE(
      absl::IsInvalidArgument(connected.qp->AttachMulticast(group_, kLid)));
  const auto peer = Peer(row_.host_1);
  EXPECT_TRUE(absl::IsInvalidArgument(peer->qp->AttachMulticast(group_, 7)));
  EXPECT_TRUE(absl::IsInvalidArgument(peer->qp->AttachMulticast({}, kLid)));
}

TEST_F(HcaMulticastTest, AQueuePairThatEndsLeavesItsGroups) {
  auto peer = Peer(row_.host_1);
  const auto other = Peer(row_.host_1);
  Attach(*peer);
  Attach(*other);
  peer.reset();
  Send(*other, group_, kLid);
  EXPECT_EQ(Received(*other), 1u);
}

}  // namespace
}  // namespace ibemu::fabric
