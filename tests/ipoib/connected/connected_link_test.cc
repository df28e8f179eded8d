// Hosts with interfaces in connected mode, and one in datagram mode, on a
// managed subnet.
#include "ipoib/connected/connected_link.h"

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cm/connection_manager.h"
#include "fabric/soft_hca/hca.h"
#include "ipoib/connected/connection_data.h"
#include "ipoib/neighbor_message.h"
#include "ipoib/netdev/packet_path.h"
#include "ipoib/path_question.h"
#include "tests/ipoib/engine_lab.h"
#include "tests/ipoib/netdev/ip_packets.h"

namespace ibemu::ipoib {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;
using Packet = std::vector<std::byte>;

constexpr size_t kHeader = 20;  // of IPv4

// A host with a kernel's device, which keeps what it receives.
struct NetHost final : PacketPath::Device, cm::CmIdOwner {
  NetHost(testing::Lab& lab, int number)
      : timers(lab.timers),
        host(lab, number),
        cm(timers,
           std::shared_ptr<mad::Host>(std::shared_ptr<void>(), &host.host),
           Random(static_cast<uint64_t>(number)), 15) {}

  // The run of the host begins.
  void Connect() {
    auto made = std::make_unique<ConnectedLink>(
        ConnectedLink::Parts{timers, host.provider, host.sa, cm, host.engine},
        Random(5));
    link = made.get();
    path.emplace(timers, std::move(made), *this);
  }
  void UseDatagrams() { path.emplace(timers, host.engine, *this); }

  Timers& timers;
  EngineHost host;
  cm::ConnectionManager cm;
  std::vector<Packet> received;
  std::vector<cm::CmEvent> events;
  int rooms = 0;
  Link* link = nullptr;
  std::optional<PacketPath> path;

 private:
  void Receive(std::span<const std::byte> packet) override {
    received.emplace_back(packet.begin(), packet.end());
  }
  void OnLinkChange() override {}
  void OnRoom() override { ++rooms; }
  void OnCmEvent(cm::CmId& /*id*/, const cm::CmEvent& event) override {
    events.push_back(event);
  }
};

class ConnectedLinkTest : public EngineTest {
 protected:
  ConnectedLinkTest() {
    one_.Connect();
    two_.Connect();
    Settle();
  }

  // From host `from`, so long in all.
  static Packet To(int number, size_t bytes, int from = 1) {
    return UdpPacket(EngineHost::Ipv4(from), EngineHost::Ipv4(number),
                     bytes - kHeader);
  }

  NetHost one_{lab_, 1};
  NetHost two_{lab_, 2};
  NetHost three_{lab_, 3};
};

TEST_F(ConnectedLinkTest, LongPacketsReachTheOtherHostAsTheyAre) {
  EXPECT_EQ(one_.path->mtu(), kConnectedMtu);
  const std::vector<Packet> sent = {To(2, 100), To(2, 5000),
                                    To(2, kConnectedMtu)};
  for (const Packet& packet : sent) one_.path->Send(packet);
  Settle();
  EXPECT_THAT(two_.received, ElementsAre(sent[0], sent[1], sent[2]));
  two_.path->Send(To(1, kConnectedMtu, 2));
  Settle();
  EXPECT_THAT(one_.received, ElementsAre(To(1, kConnectedMtu, 2)));
}

TEST_F(ConnectedLinkTest, TheHardwareAddressSaysSoWhileThereIsARun) {
  EXPECT_EQ(one_.link->hardware_address().flags, kConnectedFlag);
  one_.path.reset();
  EXPECT_EQ(one_.host.engine.hardware_address().flags, 0);
}

TEST_F(ConnectedLinkTest, ANeighborInDatagramModeGetsDatagrams) {
  three_.UseDatagrams();
  Settle();
  const size_t most = three_.path->mtu();
  one_.path->Send(To(3, most));
  Settle();
  EXPECT_THAT(three_.received, ElementsAre(To(3, most)));
  EXPECT_THAT(one_.received, IsEmpty());
  one_.path->Send(To(3, most + 1));
  Settle();
  EXPECT_THAT(three_.received, SizeIs(1));
  ASSERT_THAT(one_.received, SizeIs(1)) << "the kernel is told";
  constexpr size_t kMtuAt = 20 + 6;  // RFC 1191
  EXPECT_EQ(std::to_integer<size_t>(one_.received[0][kMtuAt]) << 8 |
                std::to_integer<size_t>(one_.received[0][kMtuAt + 1]),
            most);
  three_.path->Send(To(1, most, 3));
  Settle();
  EXPECT_THAT(one_.received, SizeIs(2));
}

TEST_F(ConnectedLinkTest, GroupsGetDatagrams) {
  const auto everybody = wire::IpAddress::Ipv4(0xffffffff);
  const size_t most = one_.host.engine.mtu();
  one_.path->Send(UdpPacket(EngineHost::Ipv4(1), everybody, most - kHeader));
  one_.path->Send(UdpPacket(EngineHost::Ipv4(1), everybody, most));
  Settle();
  EXPECT_THAT(two_.received, SizeIs(1));
  EXPECT_EQ(one_.path->counters().dropped, 1u);
}

TEST_F(ConnectedLinkTest, ARunThatBeginsAnewIsConnectedToAnew) {
  one_.path->Send(To(2, 5000));
  Settle();
  two_.path.reset();
  Settle();
  one_.path->Send(To(2, 5000));  // to nobody
  Settle();
  two_.Connect();
  Settle();
  two_.received.clear();
  one_.path->Send(To(2, 5000));
  Settle();
  EXPECT_THAT(two_.received, ElementsAre(To(2, 5000)));
}

TEST_F(ConnectedLinkTest, ACutLinkIsSurvived) {
  one_.path->Send(To(2, 5000));
  Settle();
  for (const int number : {1, 2}) {
    lab_.SetLink(lab_.Host(number), 1, false);
    Settle(absl::Seconds(30));
    lab_.SetLink(lab_.Host(number), 1, true);
    Settle(absl::Seconds(30));
    two_.received.clear();
    one_.path->Send(To(2, 5000));
    Settle();
    EXPECT_THAT(two_.received, ElementsAre(To(2, 5000)));
  }
}

TEST_F(ConnectedLinkTest, LostPacketsAreSentAgain) {
  lab_.AddFault(lab_.Host(2), 1, fabric::Fabric::Direction::kReceive,
                {.loss = 0.1});
  std::vector<Packet> sent;
  for (int i = 0; i < 20; ++i) {
    sent.push_back(To(2, 20000));
    sent.back().back() = static_cast<std::byte>(i);
    one_.path->Send(sent.back());
    Settle(absl::Seconds(20));
  }
  EXPECT_EQ(two_.received, sent);
}

TEST_F(ConnectedLinkTest, ThereIsRoomAgainWhenPacketsWereSent) {
  one_.path->Send(To(2, 100));
  Settle();
  size_t sent = 0;
  for (; one_.path->room() > 0; ++sent) one_.path->Send(To(2, 60000));
  EXPECT_EQ(sent, ConnectedQueue::kSends);
  Settle();
  EXPECT_EQ(one_.rooms, 1);
  EXPECT_THAT(two_.received, SizeIs(1 + sent));
}

TEST_F(ConnectedLinkTest, ANeighborIsReachedHoweverManyOthersWereSentTo) {
  const wire::Gid gid = two_.host.engine.gid();
  for (uint32_t i = 0; i < 2 * ConnectedSender::kMaxNeighbors; ++i) {
    one_.link->SendTo({.flags = kConnectedFlag, .qpn = 0x10000 + i, .gid = gid},
                      Packet(100));
  }
  one_.path->Send(To(2, 5000));
  Settle();
  EXPECT_THAT(two_.received, ElementsAre(To(2, 5000)));
}

// A part of a message holds what a message can be received in.
TEST_F(ConnectedLinkTest, RunsThatEndInMidMessageCostOthersNothing) {
  for (size_t i = 0; i <= ConnectedQueue::kReceives; ++i) {
    one_.path->Send(To(2, 100));
    Settle();
    const auto fault = lab_.fabric.AddFault(lab_.Host(2), 1,
                                            fabric::Fabric::Direction::kReceive,
                                            {.loss = 1, .first = 2});
    ASSERT_TRUE(fault.ok());
    one_.path->Send(To(2, 60000));
    lab_.timers.RunFor(absl::Milliseconds(10));
    lab_.fabric.RemoveFault(*fault);
    one_.path.reset();
    one_.Connect();
    Settle();
  }
  two_.received.clear();
  one_.path->Send(To(2, 5000));
  Settle();
  EXPECT_THAT(two_.received, ElementsAre(To(2, 5000)));
}

TEST_F(ConnectedLinkTest, ANeighborThatIsGoneHoldsOthersUpForSecondsOnly) {
  three_.Connect();
  Settle();
  one_.path->Send(To(2, 100));
  one_.path->Send(To(3, 100));
  Settle();
  lab_.AddFault(lab_.Host(2), 1, fabric::Fabric::Direction::kReceive,
                {.loss = 1});
  while (one_.path->room() > 0) one_.path->Send(To(2, 5000));
  Settle(absl::Seconds(10));
  EXPECT_EQ(one_.rooms, 1);
  one_.path->Send(To(3, 5000));
  Settle();
  EXPECT_THAT(three_.received, ElementsAre(To(3, 100), To(3, 5000)));
}

// As Linux sends it.
TEST_F(ConnectedLinkTest, AnAnswerOfNeighborDiscoveryByAConnectionIsHeard) {
  one_.path->Send(To(2, 100));
  Settle();
  const auto outcome = Resolve(one_.host.engine, EngineHost::Ipv6(99));
  const HardwareAddress hardware = two_.link->hardware_address();
  two_.link->SendTo(one_.link->hardware_address(),
                    EncodeNeighborMessage(
                        {.kind = NeighborMessage::Kind::kReply,
                         .sender = EngineHost::Ipv6(99),
                         .sender_hardware = hardware,
                         .target = EngineHost::Ipv6(1),
                         .target_hardware = one_.link->hardware_address()}));
  lab_.timers.RunFor(absl::Milliseconds(100));
  EXPECT_TRUE(outcome->Is(hardware.gid));
  EXPECT_THAT(one_.received, IsEmpty());
}

// Host three asks host one for connections, as it likes.
class AskedLinkTest : public ConnectedLinkTest {
 protected:
  AskedLinkTest() {
    query_ = three_.host.sa.GetPath(
        PathQuestion(three_.host.engine.gid(), three_.host.engine.pkey(),
                     one_.host.engine.gid()),
        kPathMask, kPathRetry, [&](const auto& answer) { path_ = *answer; });
    Settle();
  }

  void Ask(uint32_t qpn, uint32_t mtu) {
    std::vector<std::byte> data;
    wire::Append(ConnectionData{.qpn = qpn, .mtu = mtu}, data);
    ids_.push_back(three_.cm.Create(three_));
    const absl::Status sent = ids_.back()->SendReq(
        {.path = path_,
         .service_id = ConnectionService(one_.link->hardware_address().qpn),
         .qpn = qpn,
         .srq = true,
         .private_data = data});
    EXPECT_TRUE(sent.ok()) << sent;
  }
  std::vector<cm::CmEvent::Kind> Answers() {
    lab_.timers.RunFor(absl::Milliseconds(10));
    std::vector<cm::CmEvent::Kind> kinds;
    for (const cm::CmEvent& event : std::exchange(three_.events, {})) {
      kinds.push_back(event.kind);
    }
    return kinds;
  }

  mad::PathRecord path_;
  std::unique_ptr<mad::SaQuery> query_;
  std::vector<std::unique_ptr<cm::CmId>> ids_;
};

TEST_F(AskedLinkTest, RejectsAConnectionByWhichNoPacketFits) {
  Ask(9, 4);
  EXPECT_THAT(Answers(), ElementsAre(cm::CmEvent::Kind::kRej));
  Ask(10, 5);
  EXPECT_THAT(Answers(), ElementsAre(cm::CmEvent::Kind::kRep));
}

TEST_F(AskedLinkTest, TakesANewConnectionHoweverManyThereAre) {
  two_.path->Send(To(1, 5000, 2));
  Settle();
  for (uint32_t i = 0; i < ConnectedReceiver::kMaxConnections; ++i) {
    Ask(100 + i, 2044);
    EXPECT_THAT(Answers(), ElementsAre(cm::CmEvent::Kind::kRep));
  }
  // The first connection has gone, and its neighbour makes another.
  two_.path->Send(To(1, 6000, 2));
  Settle();
  EXPECT_THAT(one_.received, ElementsAre(To(1, 5000, 2), To(1, 6000, 2)));
}

}  // namespace
}  // namespace ibemu::ipoib
