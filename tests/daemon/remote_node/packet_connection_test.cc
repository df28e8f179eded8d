// Both ends of a connection for packets.
#include "daemon/remote_node/packet_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "daemon/remote_node/format/packet_train.h"
#include "fabric/packet/transport.h"
#include "testing/socket_pair.h"
#include "testing/virtual_timers.h"
#include "tests/daemon/virtual_loop.h"

namespace ibemu::daemon {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;
using enum NodeLinkMessage;

constexpr uint32_t kPacketBytes = 4096;

// `count` packets of one message.
fabric::Packet PacketsOf(uint32_t count) {
  fabric::Transport transport;
  transport.first = transport.last = true;
  transport.packets = count;
  transport.payload = kPacketBytes;
  transport.size = size_t{count} * kPacketBytes;
  transport.message = std::make_shared<std::vector<std::byte>>(transport.size);
  fabric::Packet packets;
  packets.slid = wire::Lid{1};
  packets.dlid = wire::Lid{2};
  packets.transport = std::make_shared<fabric::Transport>(transport);
  return packets;
}

// What one end is, and what came to it.
struct PacketEnd {
  explicit PacketEnd(Loop& loop)
      : connection(
            loop, kMaxBuffered,
            [this](const NodeLinkSplitter::Message& message) {
              came.push_back(message.type);
              return takes;
            },
            [this] { ++ended; }) {}

  static constexpr size_t kMaxBuffered = size_t{1} << 20;
  std::vector<NodeLinkMessage> came;
  int ended = 0;
  absl::Status takes;
  PacketConnection connection;
};

class PacketConnectionTest : public ::testing::Test {
 protected:
  // As each end says on its node link.
  void Connect() {
    ASSERT_TRUE(one_.connection.Begin(std::move(ones_)).ok());
    ASSERT_TRUE(other_.connection.Begin(std::move(others_)).ok());
    one_.connection.OnMoved();
    other_.connection.OnMoved();
  }
  void Settle() {
    for (int turn = 0; turn < 50; ++turn) loop_.Poll();
  }

  testing::VirtualTimers timers_;
  VirtualLoop loop_{timers_};
  PacketEnd one_{loop_}, other_{loop_};
  UniqueFd ones_, others_;

 private:
  void SetUp() override { std::tie(ones_, others_) = testing::SocketPair(); }
};

TEST_F(PacketConnectionTest, PacketsGoBothWays) {
  Connect();
  EXPECT_TRUE(one_.connection.Send(1, PacketsOf(1)));
  EXPECT_TRUE(one_.connection.Send(1, PacketsOf(3)));
  EXPECT_TRUE(other_.connection.Send(1, PacketsOf(2)));
  Settle();
  EXPECT_THAT(other_.came, ElementsAre(kPacket, kTrain));
  EXPECT_THAT(one_.came, ElementsAre(kTrain));
}

TEST_F(PacketConnectionTest, WithoutASocketPacketsGoByTheNodeLink) {
  EXPECT_FALSE(one_.connection.Send(1, PacketsOf(1)));
  EXPECT_FALSE(one_.connection.Send(kLeaseUsed, 1, {}));
  EXPECT_FALSE(one_.connection.connected());
}

TEST_F(PacketConnectionTest, AMadGoesByTheNodeLink) {
  Connect();
  fabric::Packet mad;
  mad.source_qpn = mad.destination_qpn = 1;
  EXPECT_FALSE(one_.connection.Send(1, mad));
}

// A program's UD queue pair may name any other: for who reads the packet that
// is a MAD, or none.
TEST_F(PacketConnectionTest,
       WhatAProgramSendsToQueuePairs0And1EndsNoConnection) {
  Connect();
  fabric::Packet datagram = PacketsOf(1);
  fabric::Transport transport = *datagram.transport;
  transport.service = verbs::QpType::kUd;
  datagram.transport = std::make_shared<fabric::Transport>(transport);
  for (const uint32_t qpn : {0u, 1u}) {
    datagram.destination_qpn = qpn;
    EXPECT_FALSE(one_.connection.Send(1, datagram)) << qpn;
  }
  datagram.destination_qpn = 2;
  EXPECT_TRUE(one_.connection.Send(1, datagram));
  Settle();
  EXPECT_THAT(other_.came, ElementsAre(kPacket));
}

// Until then there may be others on the node link, which were sent before.
TEST_F(PacketConnectionTest,
       NothingIsReadBeforeTheOtherEndSaysThatPacketsMove) {
  ASSERT_TRUE(one_.connection.Begin(std::move(ones_)).ok());
  ASSERT_TRUE(other_.connection.Begin(std::move(others_)).ok());
  ASSERT_TRUE(one_.connection.Send(1, PacketsOf(1)));
  Settle();
  EXPECT_THAT(other_.came, IsEmpty());
  other_.connection.OnMoved();
  Settle();
  EXPECT_THAT(other_.came, ElementsAre(kPacket));
}

TEST_F(PacketConnectionTest, TheOtherEndMayMoveBeforeTheSocketIsHere) {
  ASSERT_TRUE(one_.connection.Begin(std::move(ones_)).ok());
  ASSERT_TRUE(one_.connection.Send(1, PacketsOf(1)));
  other_.connection.OnMoved();
  Settle();
  EXPECT_THAT(other_.came, IsEmpty());
  ASSERT_TRUE(other_.connection.Begin(std::move(others_)).ok());
  Settle();
  EXPECT_THAT(other_.came, ElementsAre(kPacket));
}

TEST_F(PacketConnectionTest, WhatIsSaidOfALeaseStaysBehindThePacketsBefore) {
  Connect();
  EXPECT_TRUE(one_.connection.Send(1, PacketsOf(2)));
  EXPECT_TRUE(one_.connection.Send(kLeaseUsed, 1, {}));
  EXPECT_TRUE(one_.connection.Send(1, PacketsOf(1)));
  Settle();
  EXPECT_THAT(other_.came, ElementsAre(kTrain, kLeaseUsed, kPacket));
}

TEST_F(PacketConnectionTest, MorePacketsThanATrainHasGoOneByOne) {
  Connect();
  constexpr uint32_t kMany = PacketTrain::kMaxPackets + 1;
  EXPECT_TRUE(one_.connection.Send(1, PacketsOf(kMany)));
  Settle();
  EXPECT_EQ(other_.came, std::vector<NodeLinkMessage>(kMany, kPacket));
}

TEST_F(PacketConnectionTest, WhenOneEndGoesPacketsGoByTheNodeLinkAgain) {
  auto one = std::make_unique<PacketEnd>(loop_);
  ASSERT_TRUE(one->connection.Begin(std::move(ones_)).ok());
  ASSERT_TRUE(other_.connection.Begin(std::move(others_)).ok());
  other_.connection.OnMoved();
  ASSERT_TRUE(one->connection.Send(1, PacketsOf(1)));
  Settle();
  one.reset();
  Settle();
  EXPECT_THAT(other_.came, ElementsAre(kPacket)) << "it was sent before";
  EXPECT_EQ(other_.ended, 1);
  EXPECT_FALSE(other_.connection.connected());
  EXPECT_FALSE(other_.connection.Send(1, PacketsOf(1)));
}

TEST_F(PacketConnectionTest, AnEndThatNeverMovesIsMissed) {
  ASSERT_TRUE(one_.connection.Begin(std::move(ones_)).ok());
  others_.Reset();
  EXPECT_TRUE(one_.connection.Send(1, PacketsOf(1))) << "not seen yet";
  Settle();
  EXPECT_EQ(one_.ended, 1);
}

TEST_F(PacketConnectionTest, AnEndThatSaysSomethingAndNeverMovesIsMissed) {
  ASSERT_TRUE(one_.connection.Begin(std::move(ones_)).ok());
  ASSERT_EQ(send(others_.get(), "x", 1, 0), 1);
  Settle();
  EXPECT_TRUE(one_.connection.connected());
  others_.Reset();
  EXPECT_TRUE(one_.connection.Send(1, PacketsOf(1)));
  Settle();
  EXPECT_FALSE(one_.connection.Send(1, PacketsOf(1)));
  EXPECT_EQ(one_.ended, 1);
}

TEST_F(PacketConnectionTest, WhatItsOwnerDoesNotTakeEndsIt) {
  Connect();
  other_.takes = absl::InvalidArgumentError("no");
  ASSERT_TRUE(one_.connection.Send(1, PacketsOf(1)));
  ASSERT_TRUE(one_.connection.Send(1, PacketsOf(1)));
  Settle();
  EXPECT_THAT(other_.came, ElementsAre(kPacket));
  EXPECT_FALSE(other_.connection.connected());
  EXPECT_FALSE(one_.connection.connected());
}

TEST_F(PacketConnectionTest, ASecondSocketIsRefused) {
  Connect();
  auto [near, far] = testing::SocketPair();
  EXPECT_TRUE(absl::IsAlreadyExists(one_.connection.Begin(std::move(near))));
  EXPECT_TRUE(one_.connection.Send(1, PacketsOf(1)));
  Settle();
  EXPECT_THAT(other_.came, ElementsAre(kPacket));
}

TEST_F(PacketConnectionTest, WhoDoesNotReadLosesPacketsAndGetsTheOthersWhole) {
  const int little = 4096;
  ASSERT_EQ(
      setsockopt(ones_.get(), SOL_SOCKET, SO_SNDBUF, &little, sizeof little),
      0);
  ASSERT_TRUE(one_.connection.Begin(std::move(ones_)).ok());
  ASSERT_TRUE(other_.connection.Begin(std::move(others_)).ok());
  // The socket takes some, too.
  constexpr size_t kFits = PacketEnd::kMaxBuffered / kPacketBytes;
  for (size_t i = 0; i < 2 * kFits; ++i) {
    ASSERT_TRUE(one_.connection.Send(1, PacketsOf(1)));
    loop_.Poll();
  }
  other_.connection.OnMoved();
  for (size_t before = 1; other_.came.size() != before;) {
    before = other_.came.size();
    Settle();
  }
  EXPECT_GE(other_.came.size(), kFits);
  EXPECT_LT(other_.came.size(), 3 * kFits / 2);
  const size_t before = other_.came.size();
  ASSERT_TRUE(one_.connection.Send(1, PacketsOf(1)));
  Settle();
  EXPECT_EQ(other_.came.size(), before + 1);
}

}  // namespace
}  // namespace ibemu::daemon
