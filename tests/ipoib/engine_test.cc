// Interfaces of a managed subnet, which find each other by ARP and ND.
#include "ipoib/engine.h"

#include <algorithm>

#include "fabric/soft_hca/hca.h"
#include "ipoib/address_attributes.h"
#include "tests/ipoib/engine_lab.h"
#include "tests/ipoib/packets.h"

namespace ibemu::ipoib {
namespace {

class TwoEnginesTest : public EngineTest {
 protected:
  TwoEnginesTest() { Settle(); }

  EngineHost one_{lab_, 1};
  std::unique_ptr<EngineHost> two_ = std::make_unique<EngineHost>(lab_, 2);
};

TEST_F(TwoEnginesTest, AreUpOnceTheyHaveJoinedTheBroadcastGroup) {
  EXPECT_TRUE(one_.engine.up());
  ASSERT_NE(one_.engine.broadcast_group(), nullptr);
  EXPECT_EQ(one_.engine.broadcast_group()->q_key, 0xb1bu);
  EXPECT_EQ(one_.engine.pkey(), 0xffff);
}

TEST_F(TwoEnginesTest, ResolveEachOther) {
  const auto forth = Resolve(one_.engine, EngineHost::Ipv4(2));
  const auto back = Resolve(two_->engine, EngineHost::Ipv4(1));
  Settle();
  EXPECT_TRUE(forth->Is(two_->engine.gid()));
  EXPECT_TRUE(back->Is(one_.engine.gid()));
}

TEST_F(TwoEnginesTest, ResolveEachOtherByNeighborDiscovery) {
  const auto forth = Resolve(one_.engine, EngineHost::Ipv6(2));
  const auto back = Resolve(two_->engine, EngineHost::Ipv6(1));
  Settle();
  EXPECT_TRUE(forth->Is(two_->engine.gid()));
  EXPECT_TRUE(back->Is(one_.engine.gid()));
}

TEST_F(TwoEnginesTest, AnOwnAddressIsKnownAtOnce) {
  const auto own = Resolve(one_.engine, EngineHost::Ipv4(1));
  lab_.timers.RunPending();
  EXPECT_TRUE(own->Is(one_.engine.gid()));
}

TEST_F(TwoEnginesTest, AnAnswerIsKnownForAMinute) {
  const auto first = Resolve(one_.engine, EngineHost::Ipv4(2));
  Settle();
  const wire::Gid gid = two_->engine.gid();
  ASSERT_TRUE(first->Is(gid));
  two_.reset();
  Settle(absl::Seconds(50));
  const auto known = Resolve(one_.engine, EngineHost::Ipv4(2));
  lab_.timers.RunPending();
  EXPECT_TRUE(known->Is(gid));
  Settle(absl::Seconds(10));
  const auto forgotten = Resolve(one_.engine, EngineHost::Ipv4(2));
  Settle(absl::Seconds(2));
  EXPECT_EQ(forgotten->code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(TwoEnginesTest, AQuestionIsRepeatedUntilSomebodyAnswers) {
  for (const bool ipv4 : {true, false}) {
    const auto address = ipv4 ? EngineHost::Ipv4(3) : EngineHost::Ipv6(3);
    const auto question = Resolve(one_.engine, address, absl::Seconds(10));
    Settle(absl::Milliseconds(2500));
    EXPECT_FALSE(question->answer.has_value());
    const EngineHost three(lab_, 3);
    Settle(absl::Seconds(3));
    EXPECT_TRUE(question->Is(three.engine.gid()));
  }
}

TEST_F(TwoEnginesTest, NobodyAnswersBehindALinkThatIsCut) {
  lab_.SetLink(lab_.Host(2), 1, false);
  Settle();
  const auto question = Resolve(one_.engine, EngineHost::Ipv4(2));
  Settle(absl::Milliseconds(1999));
  EXPECT_FALSE(question->answer.has_value());
  Settle(absl::Milliseconds(1));
  EXPECT_EQ(question->code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(TwoEnginesTest, ACancelledQuestionIsNotAnswered) {
  auto question = Resolve(one_.engine, EngineHost::Ipv4(2));
  question->resolution.reset();
  Settle(absl::Seconds(5));
  EXPECT_FALSE(question->answer.has_value());
}

TEST_F(TwoEnginesTest, JoinAgainWhenTheLinkIsBack) {
  lab_.SetLink(lab_.Host(1), 1, false);
  Settle();
  EXPECT_FALSE(one_.engine.up());
  EXPECT_EQ(one_.engine.broadcast_group(), nullptr);
  const auto question =
      Resolve(one_.engine, EngineHost::Ipv4(2), absl::Seconds(60));
  lab_.SetLink(lab_.Host(1), 1, true);
  Settle(absl::Seconds(30));
  EXPECT_TRUE(one_.engine.up());
  EXPECT_TRUE(question->Is(two_->engine.gid()));
}

TEST_F(TwoEnginesTest, AReregistrationRenewsTheMembership) {
  auto& hca = static_cast<fabric::Hca&>(one_.provider);
  auto& subnet = lab_.subnet();
  hca.OnClientReregister(subnet.port_id(subnet.node(lab_.Host(1)), 1));
  lab_.timers.RunFor(absl::Milliseconds(1));
  Settle();
  EXPECT_TRUE(one_.engine.up());
  const auto question = Resolve(two_->engine, EngineHost::Ipv4(1));
  Settle();
  EXPECT_TRUE(question->Is(one_.engine.gid()));
}

TEST_F(TwoEnginesTest, ARemovedDeviceEndsQuestions) {
  const auto question =
      Resolve(one_.engine, EngineHost::Ipv4(77), absl::Seconds(60));
  ASSERT_TRUE(lab_.fabric.RemoveDevice(lab_.Host(1)).ok());
  lab_.timers.RunPending();
  EXPECT_EQ(question->code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(one_.engine.up());
  const auto late = Resolve(one_.engine, EngineHost::Ipv4(2));
  lab_.timers.RunPending();
  EXPECT_EQ(late->code(), absl::StatusCode::kUnavailable);
}

TEST_F(TwoEnginesTest, ATaskRunsAtOnceWhenTheInterfaceIsUp) {
  bool ran = false;
  one_.engine.WhenUp(absl::Seconds(1), [&] { ran = true; });
  EXPECT_FALSE(ran);
  lab_.timers.RunPending();
  EXPECT_TRUE(ran);
}

TEST_F(EngineTest, ATaskRunsOnceTheInterfaceIsUp) {
  EngineHost one(lab_, 1);
  int ran = 0;
  one.engine.WhenUp(absl::Seconds(1), [&] {
    ++ran;
    EXPECT_TRUE(one.engine.up());
  });
  Settle(absl::Milliseconds(500));
  EXPECT_EQ(ran, 1);
  Settle(absl::Seconds(2));
  EXPECT_EQ(ran, 1);
}

TEST_F(EngineTest, ATaskDoesNotWaitForAPortWithoutALink) {
  lab_.SetLink(lab_.Host(1), 1, false);
  EngineHost one(lab_, 1);
  bool ran = false;
  one.engine.WhenUp(absl::Seconds(1), [&] { ran = true; });
  EXPECT_FALSE(ran);
  lab_.timers.RunPending();
  EXPECT_TRUE(ran);
  EXPECT_FALSE(one.engine.up());
}

TEST_F(EngineTest, ATaskNoLongerWaitsForALinkThatIsCut) {
  EngineHost one(lab_, 1);
  bool ran = false;
  one.engine.WhenUp(absl::Seconds(1), [&] { ran = true; });
  lab_.SetLink(lab_.Host(1), 1, false);
  Settle(absl::Milliseconds(100));
  EXPECT_TRUE(ran);
  EXPECT_FALSE(one.engine.up());
}

// A port that has a link, but no subnet manager to make it active.
class UnmanagedEngineTest : public ::testing::Test {
 protected:
  // Returns how long a task waits for the interface.
  absl::Duration Wait() {
    const absl::Time start = lab_.timers.Now();
    absl::Time end = absl::InfiniteFuture();
    one_.engine.WhenUp(absl::Seconds(1), [&] { end = lab_.timers.Now(); });
    EXPECT_EQ(end, absl::InfiniteFuture()) << "ran before WhenUp() returned";
    lab_.timers.RunFor(absl::Seconds(2));
    EXPECT_FALSE(one_.engine.up());
    return end - start;
  }

  testing::Lab lab_{"single-switch:hosts=3"};
  EngineHost one_{lab_, 1};
};

TEST_F(UnmanagedEngineTest, ATaskDoesNotWaitForeverForTheInterface) {
  EXPECT_EQ(Wait(), absl::Seconds(1));
}

TEST_F(UnmanagedEngineTest, PatienceCountsFromTheStartOfTheInterface) {
  lab_.timers.RunFor(absl::Milliseconds(600));
  EXPECT_EQ(Wait(), absl::Milliseconds(400));
  EXPECT_EQ(Wait(), absl::ZeroDuration());
}

// A peer that sends what it likes, and keeps what comes back.
class Peer final : private DatagramQueue::Listener {
 public:
  Peer(testing::Lab& lab, int number)
      : gid_(lab.HostPort(number).GidAt(0)),
        queue_(*DatagramQueue::Create(lab.timers, lab.Provider(number),
                                      {.q_key = 0xb1b}, *this)) {}

  HardwareAddress address() const {
    return {.qpn = queue_->qpn(), .gid = gid_};
  }
  void Broadcast(const mad::McMemberRecord& group,
                 const std::vector<std::byte>& packet) {
    queue_->Send(AddressOf(group, 1), 0xffffff, packet);
  }
  void Send(wire::Lid lid, uint32_t qpn, const std::vector<std::byte>& packet) {
    verbs::AddressAttributes to{};
    to.dlid = static_cast<uint16_t>(lid);
    to.port_num = 1;
    queue_->Send(to, qpn, packet);
  }

  std::vector<std::vector<std::byte>> received;

 private:
  void OnDatagram(const DatagramQueue::Datagram& datagram) override {
    received.emplace_back(datagram.payload.begin(), datagram.payload.end());
  }
  void OnRoom() override {}

  const wire::Gid gid_;
  std::unique_ptr<DatagramQueue> queue_;
};

class PeerTest : public TwoEnginesTest {
 protected:
  // Asks for the first engine's address, and returns its answer.
  NeighborMessage Ask() {
    peer_.Broadcast(
        *one_.engine.broadcast_group(),
        EncodeNeighborMessage({.kind = NeighborMessage::Kind::kRequest,
                               .sender = EngineHost::Ipv4(3),
                               .sender_hardware = peer_.address(),
                               .target = EngineHost::Ipv4(1)}));
    Settle();
    EXPECT_EQ(peer_.received.size(), 1u);
    if (peer_.received.empty()) return {};
    return DecodeNeighborMessage(peer_.received.back()).value();
  }

  Peer peer_{lab_, 3};
};

TEST_F(PeerTest, GetsAnAnswerToItsOwnAddress) {
  const NeighborMessage answer = Ask();
  EXPECT_EQ(answer.kind, NeighborMessage::Kind::kReply);
  EXPECT_EQ(answer.sender, EngineHost::Ipv4(1));
  EXPECT_EQ(answer.sender_hardware.gid, one_.engine.gid());
  EXPECT_EQ(answer.target, EngineHost::Ipv4(3));
  EXPECT_EQ(answer.target_hardware, peer_.address());
}

TEST_F(PeerTest, PingsAnEngine) {
  const uint32_t qpn = Ask().sender_hardware.qpn;
  std::vector<std::byte> ping = FromHex(kEchoRequest);
  // From two to one; the checksum stays.
  std::swap_ranges(ping.begin() + 16, ping.begin() + 20, ping.begin() + 20);
  peer_.received.clear();
  peer_.Send(lab_.HostPort(1).Info().lid, qpn, ping);
  Settle();
  ASSERT_EQ(peer_.received.size(), 1u);
  EXPECT_EQ(peer_.received[0].size(), ping.size());
  EXPECT_EQ(peer_.received[0][4 + 20], std::byte{0});  // an echo reply
}

TEST_F(PeerTest, TeachesAnEngineNothingThatNobodyAskedFor) {
  for (uint32_t i = 0; i < 100; ++i) {
    peer_.Broadcast(
        *one_.engine.broadcast_group(),
        EncodeNeighborMessage({.kind = NeighborMessage::Kind::kReply,
                               .sender = EngineHost::Ipv4(2),
                               .sender_hardware = peer_.address(),
                               .target = EngineHost::Ipv4(1)}));
    lab_.timers.RunPending();
  }
  const auto question = Resolve(one_.engine, EngineHost::Ipv4(2));
  Settle();
  EXPECT_TRUE(question->Is(two_->engine.gid()));
}

TEST_F(PeerTest, InventsAskersWithoutHarm) {
  for (uint32_t i = 1; i <= 3000; ++i) {
    HardwareAddress nobody = peer_.address();
    nobody.gid.interface_id += i << 8;
    peer_.Broadcast(
        *one_.engine.broadcast_group(),
        EncodeNeighborMessage({.kind = NeighborMessage::Kind::kRequest,
                               .sender = EngineHost::Ipv4(3),
                               .sender_hardware = nobody,
                               .target = EngineHost::Ipv4(1)}));
    lab_.timers.RunPending();
  }
  Settle(absl::Seconds(2));
  EXPECT_EQ(Ask().sender, EngineHost::Ipv4(1));
}

}  // namespace
}  // namespace ibemu::ipoib
