// What comes from another machine by a lease, and is anything but that.
#include "daemon/remote_node/leases/leased_receiver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/bounded_stream.h"
#include "daemon/remote_node/format/packet_train.h"
#include "daemon/remote_node/leases/leased_sender.h"
#include "daemon/remote_node/leases/message_receiver.h"
#include "fabric/packet/transport.h"
#include "testing/socket_pair.h"
#include "testing/virtual_timers.h"
#include "tests/daemon/virtual_loop.h"

namespace ibemu::daemon {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;
using wire::Lid;

constexpr fabric::PacketKind kKind{.dlid = Lid{2}, .sl = 1, .p_key = 0x8001};
constexpr size_t kMtu = 256;

fabric::Packet PacketOf(const fabric::PacketKind& kind, size_t size) {
  fabric::Transport transport;
  transport.first = transport.last = true;
  transport.message = std::make_shared<std::vector<std::byte>>(size);
  transport.size = size;
  fabric::Packet packet;
  packet.slid = Lid{1};
  packet.dlid = kind.dlid;
  packet.sl = kind.sl;
  packet.p_key = kind.p_key;
  packet.transport = std::make_shared<fabric::Transport>(transport);
  return packet;
}

class LeasedReceiverTest : public ::testing::Test {
 protected:
  LeasedReceiverTest() {
    UniqueFd ours;
    std::tie(ours, theirs_) = testing::SocketPair();
    receiver_ = std::make_unique<LeasedReceiver>(
        loop_, std::move(ours), kKind, kMtu,
        [this](const fabric::Packet& packet) {
          if (sizes_.empty()) on_first_();
          sizes_.push_back(packet.transport->size);
        });
    EXPECT_TRUE(receiver_
                    ->Start([this](const absl::Status& why) {
                      ended_.push_back(why);
                      receiver_.reset();
                    })
                    .ok());
  }

  void Say(std::span<const std::byte> bytes) {
    ASSERT_EQ(send(theirs_.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    loop_.Poll();
  }
  void Say(NodeLinkMessage type, std::span<const std::byte> payload) {
    std::vector<std::byte> bytes;
    AppendMessage(type, 1, payload, bytes);
    Say(bytes);
  }
  void Say(const fabric::Packet& packet) {
    Say(NodeLinkMessage::kPacket, EncodePacket(packet));
  }
  void ExpectRefused() {
    EXPECT_THAT(sizes_, IsEmpty());
    ASSERT_EQ(ended_.size(), 1u);
    EXPECT_TRUE(absl::IsInvalidArgument(ended_[0])) << ended_[0];
  }

  testing::VirtualTimers timers_;
  VirtualLoop loop_{timers_};
  UniqueFd theirs_;
  std::unique_ptr<LeasedReceiver> receiver_;
  std::vector<size_t> sizes_;
  std::function<void()> on_first_ = [] {};
  std::vector<absl::Status> ended_;
};

TEST_F(LeasedReceiverTest, PacketsOfTheLeaseArrive) {
  Say(PacketOf(kKind, 4));
  Say(PacketOf(kKind, kMtu));
  EXPECT_THAT(sizes_, ElementsAre(4, kMtu));
  EXPECT_THAT(ended_, IsEmpty());
  theirs_.Reset();
  loop_.Poll();
  EXPECT_THAT(ended_, ElementsAre(absl::OkStatus()));
}

TEST_F(LeasedReceiverTest, APacketForAnotherPortIsRefused) {
  fabric::PacketKind kind = kKind;
  kind.dlid = Lid{3};
  Say(PacketOf(kind, 4));
  ExpectRefused();
}

TEST_F(LeasedReceiverTest, APacketOfAnotherPartitionIsRefused) {
  fabric::PacketKind kind = kKind;
  kind.p_key = 0xffff;
  Say(PacketOf(kind, 4));
  ExpectRefused();
}

TEST_F(LeasedReceiverTest, APacketThatIsTooLongIsRefused) {
  Say(PacketOf(kKind, kMtu + 4));
  ExpectRefused();
}

TEST_F(LeasedReceiverTest, SeveralPacketsThatAreTooLongAreRefused) {
  fabric::Packet packets = PacketOf(kKind, 3 * (kMtu + 4));
  fabric::Transport transport = *packets.transport;
  transport.service = verbs::QpType::kUc;
  transport.packets = 3;
  transport.payload = kMtu + 4;
  packets.transport = std::make_shared<fabric::Transport>(transport);
  Say(NodeLinkMessage::kTrain, EncodeTrain(packets));
  ExpectRefused();
}

TEST_F(LeasedReceiverTest, ManyPacketsTakeTurnsWithOthersAndAllArrive) {
  constexpr size_t kMany = 3 * MessageReceiver::kMaxAtOnce;
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < kMany; ++i) {
    AppendMessage(NodeLinkMessage::kPacket, 1, EncodePacket(PacketOf(kKind, 4)),
                  bytes);
  }
  ASSERT_EQ(send(theirs_.get(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  theirs_.Reset();
  size_t before_others = 0;
  on_first_ = [&] {
    timers_.RunAt(timers_.Now(), [&] { before_others = sizes_.size(); });
  };
  for (int turn = 0; turn < 10; ++turn) loop_.Poll();
  EXPECT_EQ(sizes_.size(), kMany);
  EXPECT_EQ(before_others, size_t{MessageReceiver::kMaxAtOnce});
  EXPECT_THAT(ended_, ElementsAre(absl::OkStatus()));
}

TEST_F(LeasedReceiverTest, AMadIsRefused) {
  fabric::Packet packet;
  packet.slid = Lid{1};
  packet.dlid = kKind.dlid;
  packet.source_qpn = packet.destination_qpn = 1;
  Say(packet);
  ExpectRefused();
}

TEST_F(LeasedReceiverTest, AnotherMessageIsRefused) {
  Say(NodeLinkMessage::kIsSm, std::vector<std::byte>(1));
  ExpectRefused();
}

TEST_F(LeasedReceiverTest, WhatIsNoPacketIsRefused) {
  Say(NodeLinkMessage::kPacket, std::vector<std::byte>(20));
  ExpectRefused();
}

TEST_F(LeasedReceiverTest, AMessageWithoutEndIsRefused) {
  Say(std::vector<std::byte>(8, std::byte{0xff}));
  ExpectRefused();
}

// The other end of such a connection.
class LeasedSenderTest : public ::testing::Test {
 protected:
  LeasedSenderTest() {
    UniqueFd ours;
    std::tie(ours, theirs_) = testing::SocketPair();
    sender_ = std::make_unique<LeasedSender>(
        loop_, std::move(ours), [this](uint64_t packets, uint64_t words) {
          reports_.emplace_back(packets, words);
        });
    EXPECT_TRUE(sender_->Start([this] { ++lost_; }).ok());
  }

  // Returns the number of bytes that have come.
  size_t Hear() {
    std::vector<std::byte> bytes(1 << 20);
    size_t all = 0;
    while (true) {
      loop_.Poll();
      const ssize_t count =
          recv(theirs_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (count <= 0) return all;
      all += static_cast<size_t>(count);
    }
  }

  using Report = std::pair<uint64_t, uint64_t>;
  testing::VirtualTimers timers_;
  VirtualLoop loop_{timers_};
  UniqueFd theirs_;
  std::unique_ptr<LeasedSender> sender_;
  std::vector<Report> reports_;
  int lost_ = 0;
};

TEST_F(LeasedSenderTest, TellsWhatItHasSentSoonAndOnce) {
  const fabric::Packet packet = PacketOf(kKind, 100);
  sender_->Send(1, packet);
  sender_->Send(1, packet);
  EXPECT_GT(Hear(), 200u);
  EXPECT_THAT(reports_, IsEmpty());
  timers_.RunFor(LeasedSender::kReportAfter);
  EXPECT_THAT(reports_, ElementsAre(Report(2, 2 * packet.Words())));
  timers_.RunFor(10 * LeasedSender::kReportAfter);
  EXPECT_EQ(reports_.size(), 1u);
  sender_->Send(1, packet);
  sender_->Finish();
  EXPECT_EQ(reports_.size(), 2u);
}

TEST_F(LeasedSenderTest, WhoDoesNotReadLosesPacketsAndGetsTheOthersWhole) {
  const fabric::Packet packet = PacketOf(kKind, 4096);
  const size_t message = 8 + EncodePacket(packet).size();
  const size_t fits = control::BoundedStream::kMaxBuffered / message + 1;
  for (size_t i = 0; i < 2 * fits; ++i) {
    sender_->Send(1, packet);
    loop_.Poll();
  }
  const size_t heard = Hear();
  EXPECT_GE(heard, fits * message);
  EXPECT_LT(heard, 3 * fits / 2 * message);
  EXPECT_EQ(heard % message, 0u);
}

TEST_F(LeasedSenderTest, WhatIsKeptIsSentBeforeTheEnd) {
  const fabric::Packet packet = PacketOf(kKind, 4096);
  constexpr size_t kPackets = 500;
  for (size_t i = 0; i < kPackets; ++i) sender_->Send(1, packet);
  sender_->Finish();
  EXPECT_EQ(Hear(), kPackets * (8 + EncodePacket(packet).size()));
  char byte = 0;
  EXPECT_EQ(recv(theirs_.get(), &byte, 1, MSG_DONTWAIT), 0);
}

TEST_F(LeasedSenderTest, TellsThatNobodyTakesPackets) {
  theirs_.Reset();
  loop_.Poll();
  loop_.Poll();
  EXPECT_EQ(lost_, 1);
}

}  // namespace
}  // namespace ibemu::daemon
