#include "daemon/remote_node/leases/lease_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/remote_node/fabric_cable.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "fabric/packet/transport.h"
#include "hca/model/cable.h"
#include "testing/lab.h"

namespace ibemu::daemon {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;

// What a host's daemon says and hears of leases, without one.
class LeaseTableTest : public ::testing::Test {
 protected:
  LeaseTableTest() {
    for (const int host : {1, 2, 3}) {
      adapters_.push_back(*FabricCables::Plug(lab_.fabric, lab_.Host(host)));
      adapters_.back()->cable(1).SetEnabled(true);
      if (host == 2) adapters_.back()->cable(1).SetListener(&arrivals_);
    }
    lab_.Configure();
    for (const int host : {1, 2, 3}) {
      parties_.push_back(Join(host, {}));
    }
  }
  ~LeaseTableTest() override {
    parties_.clear();
    adapters_.clear();
  }

  std::unique_ptr<LeaseTable::Party> Join(int host, LeaseTable::Place place) {
    return table_.Join(lab_.Host(host), std::move(place),
                       [this, host](NodeLinkMessage type, int,
                                    std::span<const std::byte> payload) {
                         if (type == NodeLinkMessage::kLease && full_)
                           return false;
                         told_.emplace_back(host, type);
                         if (type == NodeLinkMessage::kLease) {
                           std::string address;
                           number_ = DecodeLease(payload, address)->number;
                         }
                         return true;
                       });
  }

  fabric::Packet Packet() {
    fabric::Packet packet;
    packet.dlid = lab_.LidOf("node-2");
    fabric::Transport transport;
    transport.first = transport.last = true;
    packet.transport = std::make_shared<fabric::Transport>(transport);
    return packet;
  }
  void Send(uint32_t packets) { SendFrom(1, packets, Packet()); }
  void SendFrom(int host, uint32_t packets, const fabric::Packet& packet) {
    for (uint32_t i = 0; i < packets; ++i) {
      parties_[static_cast<size_t>(host - 1)]->OnPacket(
          lab_.subnet().port_id(lab_.Host(host), 1), packet);
    }
  }
  // Packets of one message.
  void SendAtOnce(uint32_t packets) {
    fabric::Packet train = Packet();
    fabric::Transport transport = *train.transport;
    transport.packets = packets;
    train.transport = std::make_shared<fabric::Transport>(transport);
    SendFrom(1, 1, train);
  }
  LeaseTable::Party& sender() { return *parties_[0]; }
  LeaseTable::Party& receiver() { return *parties_[1]; }
  using Told = std::pair<int, NodeLinkMessage>;

  // What comes to node-2 through the fabric.
  struct Arrivals final : hca::model::CableListener {
    explicit Arrivals(std::vector<Told>& its) : told(its) {}
    void OnPacket(std::span<const std::byte>) override {
      told.emplace_back(2, NodeLinkMessage::kPacket);
    }
    void OnPortEvent() override {}
    void OnReregister() override {}
    std::vector<Told>& told;
  };

  testing::Lab lab_{"single-switch:hosts=3"};
  LeaseTable table_{lab_.timers, lab_.fabric, [] { return Secret{}; }};
  std::vector<std::unique_ptr<FabricCables>> adapters_;
  std::vector<std::unique_ptr<LeaseTable::Party>> parties_;
  std::vector<Told> told_;
  Arrivals arrivals_{told_};
  uint32_t number_ = 0;
  bool full_ = false;
};

TEST_F(LeaseTableTest, TheSenderHearsOfItWhenTheReceiverIsReady) {
  Send(LeaseTable::kFirstPackets - 1);
  EXPECT_THAT(told_, IsEmpty());
  Send(1);
  EXPECT_THAT(told_, ElementsAre(Told(2, NodeLinkMessage::kLease)));
  receiver().OnReady(number_);
  EXPECT_THAT(told_, ElementsAre(Told(2, NodeLinkMessage::kLease),
                                 Told(1, NodeLinkMessage::kLease)));
  receiver().OnReady(number_);
  EXPECT_THAT(told_, SizeIs(2));
}

TEST_F(LeaseTableTest, OnlyWhoCanConnectToTheOtherGetsALease) {
  using Place = LeaseTable::Place;
  struct Case {
    Place from, to;
    bool can;
  };
  for (const Case& each : {
           Case{{}, {}, true},
           Case{{.address = "10.0.0.1:1"}, {.address = "10.0.0.2:1"}, true},
           Case{{.address = "10.0.0.1:1"}, {}, false},
           Case{{}, {.address = "10.0.0.2:1"}, false},
           Case{{.address = "10.0.0.1:1"}, {.address = "127.0.0.1:1"}, false},
           Case{{.address = "[::1]:1"}, {.address = "127.0.0.1:1"}, true},
           Case{{.address = "127.0.0.1:1"}, {.address = "10.0.0.2:1"}, true},
           Case{{.address = "10.0.0.1:1"}, {.address = "[fe80::2%3]:1"}, false},
           Case{{.address = "[fe80::2%3]:1"}, {.address = "10.0.0.1:1"}, true},
           Case{{.address = "10.0.0.1:1", .encrypts = true},
                {.address = "10.0.0.2:1"},
                false},
           Case{{.address = "10.0.0.1:1"},
                {.address = "10.0.0.2:1", .encrypts = true},
                false},
           Case{{.address = "10.0.0.1:1", .encrypts = true},
                {.address = "10.0.0.2:1", .encrypts = true},
                true},
       }) {
    parties_.clear();
    parties_.push_back(Join(1, each.from));
    parties_.push_back(Join(2, each.to));
    Send(LeaseTable::kFirstPackets);
    EXPECT_EQ(sender().leases(), each.can ? 1U : 0U)
        << each.from.address << " to " << each.to.address;
  }
}

TEST_F(LeaseTableTest, TheReceiverHearsOnceThatItIsUsed) {
  Send(LeaseTable::kFirstPackets);
  sender().OnUsed(number_);  // of which it has not been told
  lab_.timers.RunPending();
  EXPECT_THAT(told_, SizeIs(1));
  receiver().OnReady(number_);
  told_.clear();
  for (int i = 0; i < 3; ++i) sender().OnUsed(number_);
  lab_.timers.RunPending();
  EXPECT_THAT(told_, ElementsAre(Told(2, NodeLinkMessage::kLeaseUsed)));
}

TEST_F(LeaseTableTest, AReceiverIsToldAgainWhatIsUsedAndNothingElse) {
  Send(LeaseTable::kFirstPackets);
  receiver().OnReady(number_);
  told_.clear();
  receiver().RepeatUsed();
  EXPECT_THAT(told_, IsEmpty());
  sender().OnUsed(number_);
  lab_.timers.RunPending();
  sender().RepeatUsed();
  receiver().RepeatUsed();
  EXPECT_THAT(told_, ElementsAre(Told(2, NodeLinkMessage::kLeaseUsed),
                                 Told(2, NodeLinkMessage::kLeaseUsed)));
}

TEST_F(LeaseTableTest, TheReceiverHearsOfItAfterWhatCameBefore) {
  Send(LeaseTable::kFirstPackets);
  receiver().OnReady(number_);
  told_.clear();
  // More than is carried in one turn.
  constexpr int kMany = 2000;
  for (int i = 0; i < kMany; ++i) {
    adapters_[0]->cable(1).Send(EncodePacket(Packet()));
  }
  sender().OnUsed(number_);
  lab_.timers.RunPending();
  ASSERT_THAT(told_, SizeIs(kMany + 1));
  EXPECT_EQ(told_.back(), Told(2, NodeLinkMessage::kLeaseUsed));
}

TEST_F(LeaseTableTest, AReceiverThatHasGoneHearsNothing) {
  Send(LeaseTable::kFirstPackets);
  receiver().OnReady(number_);
  parties_[1].reset();
  told_.clear();
  sender().OnUsed(number_);
  sender().OnUsage({.number = number_, .packets = 1, .words = 100});
  sender().OnEnded(number_);
  lab_.timers.RunPending();
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_EQ(sender().leases(), 0u);
}

TEST_F(LeaseTableTest, NobodySpeaksForAnother) {
  Send(LeaseTable::kFirstPackets);
  told_.clear();
  sender().OnReady(number_);
  receiver().OnUsed(number_);
  receiver().OnUsage({.number = number_, .packets = 1, .words = 100});
  receiver().OnEnded(number_ + 1);
  lab_.timers.RunPending();
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_EQ(lab_.PortOf("node-2", 1).traffic.rcv_packets, 0u);
  EXPECT_EQ(sender().leases(), 1u);
}

TEST_F(LeaseTableTest, ASenderThatTellsWhatNobodyCanHaveSentLosesIt) {
  Send(LeaseTable::kFirstPackets);
  receiver().OnReady(number_);
  told_.clear();
  sender().OnUsage({.number = number_, .packets = 1, .words = 100'000});
  EXPECT_THAT(told_, ElementsAre(Told(2, NodeLinkMessage::kLeaseEnded),
                                 Told(1, NodeLinkMessage::kLeaseEnded)));
  EXPECT_EQ(lab_.PortOf("node-2", 1).traffic.rcv_data, 0u);
}

TEST_F(LeaseTableTest, WhatWasSentBeforeTheEndIsCountedAfterIt) {
  Send(LeaseTable::kFirstPackets);
  receiver().OnReady(number_);
  receiver().OnEnded(number_);
  sender().OnUsage({.number = number_, .packets = 3, .words = 300});
  EXPECT_EQ(lab_.PortOf("node-2", 1).traffic.rcv_data, 300u);
  EXPECT_EQ(sender().leases(), 1u);
  sender().OnEnded(number_);
  EXPECT_EQ(sender().leases(), 0u);
  sender().OnUsage({.number = number_, .packets = 3, .words = 300});
  EXPECT_EQ(lab_.PortOf("node-2", 1).traffic.rcv_data, 300u);
}

TEST_F(LeaseTableTest, ASenderThatGivesNoneBackKeepsNobodyElseOut) {
  fabric::Packet packet = Packet();
  std::vector<uint32_t> numbers;
  for (uint16_t i = 0; i < LeaseTable::kMaxLeases; ++i) {
    packet.p_key = static_cast<uint16_t>(0x8001 + i);
    SendFrom(1, LeaseTable::kFirstPackets, packet);
    receiver().OnReady(number_);
    numbers.push_back(number_);
  }
  ASSERT_EQ(sender().leases(), LeaseTable::kMaxLeases);
  for (const uint32_t number : numbers) receiver().OnEnded(number);
  EXPECT_EQ(sender().leases(), LeaseTable::kMaxLeases) << "it says nothing";
  SendFrom(3, LeaseTable::kFirstPackets, Packet());
  EXPECT_EQ(parties_[2]->leases(), 1u);
}

TEST_F(LeaseTableTest, TheSenderThatHasTheMostGivesOneUpForOneThatHasFewer) {
  fabric::Packet packet = Packet();
  for (uint16_t i = 0; i < LeaseTable::kMaxLeases; ++i) {
    packet.p_key = static_cast<uint16_t>(0x8001 + i);
    SendFrom(1, LeaseTable::kFirstPackets, packet);
    receiver().OnReady(number_);
  }
  ASSERT_EQ(sender().leases(), LeaseTable::kMaxLeases);
  told_.clear();
  for (uint16_t i = 0; i < LeaseTable::kMaxLeases; ++i) {
    packet.p_key = static_cast<uint16_t>(0x8001 + i);
    SendFrom(3, LeaseTable::kFirstPackets, packet);
  }
  EXPECT_EQ(parties_[2]->leases(), LeaseTable::kMaxLeases / 2);
  EXPECT_EQ(std::ranges::count(told_, Told(1, NodeLinkMessage::kLeaseEnded)),
            LeaseTable::kMaxLeases / 2);
}

TEST_F(LeaseTableTest, APortThatChangesEndsTheLeasesThatLeadThroughIt) {
  Send(LeaseTable::kFirstPackets);
  receiver().OnReady(number_);
  SendFrom(3, LeaseTable::kFirstPackets, Packet());
  receiver().OnReady(number_);
  told_.clear();
  lab_.SetLink(lab_.Host(3), 1, false);
  lab_.timers.RunPending();
  EXPECT_THAT(told_, ElementsAre(Told(2, NodeLinkMessage::kLeaseEnded),
                                 Told(3, NodeLinkMessage::kLeaseEnded)));
  told_.clear();
  lab_.AddFault(lab_.Host(2), 1, fabric::Fabric::Direction::kReceive,
                {.loss = 1});
  EXPECT_THAT(told_, ElementsAre(Told(2, NodeLinkMessage::kLeaseEnded),
                                 Told(1, NodeLinkMessage::kLeaseEnded)));
}

// The packets after which leases are given of which each fails.
TEST_F(LeaseTableTest, WhatFailsIsTriedLessAndLessOftenButForEver) {
  Send(LeaseTable::kFirstPackets);
  uint32_t packets = LeaseTable::kMorePackets;
  for (int failures = 0; failures < 13; ++failures) {
    ASSERT_EQ(sender().leases(), 1u);
    receiver().OnReady(number_);
    sender().OnEnded(number_);
    ASSERT_EQ(sender().leases(), 0u);
    SendAtOnce(packets - 1);
    EXPECT_EQ(sender().leases(), 0u) << packets;
    SendAtOnce(1);
    EXPECT_EQ(sender().leases(), 1u) << packets;
    packets = std::min(2 * packets, LeaseTable::kMaxPackets);
  }
  EXPECT_EQ(packets, LeaseTable::kMaxPackets);
}

TEST_F(LeaseTableTest, WhatHasFailedIsForgottenWhenOneIsUsed) {
  Send(LeaseTable::kFirstPackets);
  uint32_t packets = LeaseTable::kMorePackets;
  for (int failures = 0; failures < 3; ++failures) {
    receiver().OnReady(number_);
    sender().OnEnded(number_);
    SendAtOnce(packets);
    packets *= 2;
  }
  ASSERT_EQ(sender().leases(), 1u);
  receiver().OnReady(number_);
  sender().OnUsage({.number = number_, .packets = 1, .words = 10});
  sender().OnEnded(number_);
  ASSERT_EQ(sender().leases(), 0u);
  SendAtOnce(LeaseTable::kMorePackets);
  EXPECT_EQ(sender().leases(), 1u);
}

TEST_F(LeaseTableTest, AHostThatHasNoRoomForItGetsNone) {
  full_ = true;
  Send(LeaseTable::kFirstPackets);
  EXPECT_EQ(sender().leases(), 0u);
  full_ = false;
  Send(LeaseTable::kMorePackets);
  ASSERT_EQ(sender().leases(), 1u);
  full_ = true;
  told_.clear();
  receiver().OnReady(number_);
  EXPECT_THAT(told_, ElementsAre(Told(2, NodeLinkMessage::kLeaseEnded)));
  EXPECT_EQ(sender().leases(), 0u);
}

}  // namespace
}  // namespace ibemu::daemon
