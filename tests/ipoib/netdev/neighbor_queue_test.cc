#include "ipoib/netdev/neighbor_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "testing/virtual_timers.h"
#include "tests/ipoib/packets.h"

namespace ibemu::ipoib {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;
using Datagram = NeighborQueue::Datagram;

// A link whose neighbours answer when a test says so.
class FakeLink final : public Link {
 public:
  struct Question : Resolution {
    explicit Question(FakeLink& link) : link(link) {}
    ~Question() override { std::erase(link.questions, this); }

    FakeLink& link;
    wire::IpAddress address;
    absl::AnyInvocable<void(absl::StatusOr<HardwareAddress>)> done;
  };

  void SetUser(User* /*user*/) override {}
  bool up() const override { return true; }
  size_t mtu() const override { return 2044; }
  const mad::McMemberRecord* broadcast_group() const override {
    return nullptr;
  }
  const std::vector<wire::IpNetwork>& own_addresses() const override {
    return addresses;
  }
  HardwareAddress hardware_address() const override { return kHardwareOne; }
  uint16_t pkey() const override { return 0xffff; }
  std::unique_ptr<Resolution> ResolveHardware(
      const wire::IpAddress& address, absl::Duration /*timeout*/,
      absl::AnyInvocable<void(absl::StatusOr<HardwareAddress>)> done) override {
    auto question = std::make_unique<Question>(*this);
    question->address = address;
    question->done = std::move(done);
    questions.push_back(question.get());
    return question;
  }
  size_t room() const override { return 16; }
  void SendTo(const HardwareAddress& neighbor, Datagram datagram) override {
    sent.emplace_back(neighbor, std::move(datagram));
  }
  void SendToGroup(const mad::McMemberRecord& /*group*/,
                   std::span<const std::byte> /*datagram*/) override {}
  bool TakeNeighborMessage(std::span<const std::byte> /*datagram*/) override {
    return false;
  }
  std::unique_ptr<SteadyMembership> Join(
      const wire::IpAddress& /*group*/, JoinAs /*as*/,
      SteadyMembership::Changed /*changed*/) override {
    return nullptr;
  }
  void Attach(const mad::McMemberRecord& /*group*/) override {}
  void Detach(const mad::McMemberRecord& /*group*/) override {}

  // Answers the oldest question.
  void Answer(absl::StatusOr<HardwareAddress> answer) {
    auto done = std::move(questions.front()->done);
    done(std::move(answer));
  }

  std::vector<wire::IpNetwork> addresses;
  std::vector<Question*> questions;
  std::vector<std::pair<HardwareAddress, Datagram>> sent;
};

class NeighborQueueTest : public ::testing::Test {
 protected:
  static Datagram Numbered(int number) { return {std::byte(number)}; }
  static wire::IpAddress Address(uint32_t number) {
    return wire::IpAddress::Ipv4(0xc6120000 + number);
  }

  testing::VirtualTimers timers_;
  FakeLink link_;
  std::vector<Datagram> undelivered_;
  NeighborQueue queue_{timers_, link_, [this](const Datagram& datagram) {
                         undelivered_.push_back(datagram);
                       }};
};

TEST_F(NeighborQueueTest, WhatWaitsIsSentInOrderWhenTheNeighbourAnswers) {
  queue_.Send(kIpTwo, Numbered(1));
  queue_.Send(kIpTwo, Numbered(2));
  EXPECT_THAT(link_.questions, SizeIs(1));
  EXPECT_THAT(link_.sent, IsEmpty());
  link_.Answer(kHardwareTwo);
  queue_.Send(kIpTwo, Numbered(3));
  EXPECT_THAT(link_.sent, ElementsAre(std::pair(kHardwareTwo, Numbered(1)),
                                      std::pair(kHardwareTwo, Numbered(2)),
                                      std::pair(kHardwareTwo, Numbered(3))));
  EXPECT_THAT(link_.questions, IsEmpty());
}

TEST_F(NeighborQueueTest, WhatWaitsForNobodyIsToldAndTheNextPacketAsksAgain) {
  queue_.Send(kIpTwo, Numbered(1));
  queue_.Send(kIpTwo, Numbered(2));
  link_.Answer(absl::DeadlineExceededError("nobody answered"));
  EXPECT_THAT(undelivered_, ElementsAre(Numbered(1), Numbered(2)));
  queue_.Send(kIpTwo, Numbered(3));
  EXPECT_THAT(link_.questions, SizeIs(1));
}

TEST_F(NeighborQueueTest, AKnownNeighbourIsAskedAgainWhilePacketsGoOn) {
  queue_.Send(kIpTwo, Numbered(1));
  link_.Answer(kHardwareTwo);
  timers_.RunFor(NeighborQueue::kReachable);
  queue_.Send(kIpTwo, Numbered(2));
  queue_.Send(kIpTwo, Numbered(3));
  EXPECT_THAT(link_.sent, SizeIs(3));
  ASSERT_THAT(link_.questions, SizeIs(1));
  link_.Answer(absl::DeadlineExceededError("nobody answered"));
  queue_.Send(kIpTwo, Numbered(4));
  EXPECT_THAT(link_.sent, SizeIs(3)) << "it is not known any more";
}

TEST_F(NeighborQueueTest, ANewHardwareAddressIsLearntForAllOfAPort) {
  queue_.Send(kIpTwo, Numbered(1));
  link_.Answer(kHardwareTwo);
  queue_.Send(kIp6Two, Numbered(2));
  link_.Answer(kHardwareTwo);
  HardwareAddress moved = kHardwareTwo;
  moved.qpn = 0x99;
  queue_.Learn(moved);
  queue_.Learn(kHardwareOne);
  link_.sent.clear();
  queue_.Send(kIpTwo, Numbered(3));
  queue_.Send(kIp6Two, Numbered(4));
  EXPECT_THAT(link_.sent, ElementsAre(std::pair(moved, Numbered(3)),
                                      std::pair(moved, Numbered(4))));
}

TEST_F(NeighborQueueTest, SoManyPacketsWaitAndNoMore) {
  for (int i = 0; i < 100; ++i) queue_.Send(kIpTwo, Numbered(i));
  link_.Answer(kHardwareTwo);
  EXPECT_THAT(link_.sent, SizeIs(NeighborQueue::kMaxWaiting));
  link_.sent.clear();
  for (uint32_t host = 0; host < 64; ++host) {
    for (int i = 0; i < 16; ++i) queue_.Send(Address(1000 + host), Numbered(i));
  }
  while (!link_.questions.empty()) link_.Answer(kHardwareTwo);
  EXPECT_THAT(link_.sent, SizeIs(NeighborQueue::kMaxWaitingAll));
}

TEST_F(NeighborQueueTest, BeyondSoManyNeighboursTheOldestIsForgotten) {
  for (uint32_t host = 0; host < NeighborQueue::kMaxNeighbors; ++host) {
    queue_.Send(Address(host), Numbered(1));
    link_.Answer(kHardwareTwo);
    timers_.RunFor(absl::Milliseconds(1));
  }
  queue_.Send(Address(0), Numbered(2));
  queue_.Send(Address(5000), Numbered(1));
  link_.Answer(kHardwareTwo);
  queue_.Send(Address(0), Numbered(3));
  EXPECT_THAT(link_.questions, IsEmpty()) << "it was used last";
  queue_.Send(Address(1), Numbered(3));
  EXPECT_THAT(link_.questions, SizeIs(1));
}

TEST_F(NeighborQueueTest, WhoIsAskedForIsNotForgottenForOthers) {
  for (uint32_t host = 0; host < NeighborQueue::kMaxNeighbors; ++host) {
    queue_.Send(Address(host), Numbered(1));
  }
  queue_.Send(Address(5000), Numbered(1));
  EXPECT_THAT(link_.questions, SizeIs(NeighborQueue::kMaxNeighbors));
}

TEST_F(NeighborQueueTest, ForgettingCancelsQuestionsAndWhatWaits) {
  queue_.Send(kIpTwo, Numbered(1));
  queue_.Forget();
  EXPECT_THAT(link_.questions, IsEmpty());
  EXPECT_THAT(undelivered_, IsEmpty());
}

}  // namespace
}  // namespace ibemu::ipoib
