#include "fabric/packet/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/packet/packet.h"
#include "tests/fabric/verbs_pair.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre;
using verbs::QpType;

// 4,000 bytes in packets of 1,024, near the end of the sequence numbers.
Transport Train(Transport::Operation operation) {
  Transport train;
  train.operation = operation;
  train.first = train.last = true;
  train.ack_request = train.solicited = train.has_immediate = true;
  train.psn = 0xfffffe;
  train.offset = 100;
  train.size = 4000;
  train.packets = 4;
  train.payload = 1024;
  return train;
}

TEST(TransportTest, AllPacketsOfAMessageButTheLastAreFull) {
  const Transport train = Train(Transport::Operation::kSend);
  EXPECT_TRUE(train.FitsMtu(1024));
  EXPECT_FALSE(train.FitsMtu(512));
  EXPECT_FALSE(train.FitsMtu(2048));
  for (uint32_t i = 0; i < train.packets; ++i) {
    const Transport single = train.Single(i);
    EXPECT_TRUE(single.FitsMtu(1024)) << i;
    EXPECT_FALSE(single.FitsMtu(512)) << i;
    EXPECT_EQ(single.FitsMtu(2048), single.last) << i;
  }
  Transport empty;
  empty.last = true;
  EXPECT_FALSE(empty.FitsMtu(1024)) << "it ends a message with nothing";
  empty.first = true;
  EXPECT_TRUE(empty.FitsMtu(1024));
}

TEST(TransportTest, PacketsOfATrainFollowEachOther) {
  const Transport train = Train(Transport::Operation::kSend);
  uint32_t psn = train.psn;
  size_t offset = train.offset;
  for (uint32_t i = 0; i < train.packets; ++i) {
    const Transport single = train.Single(i);
    const bool at_end = i == 3;
    EXPECT_EQ(single.packets, 1u);
    EXPECT_EQ(single.psn, psn);
    EXPECT_EQ(single.offset, offset);
    EXPECT_EQ(single.size, at_end ? 928u : 1024u);
    EXPECT_EQ(single.first, i == 0);
    EXPECT_EQ(single.last, at_end);
    EXPECT_EQ(single.ack_request, at_end);
    EXPECT_EQ(single.solicited, at_end);
    EXPECT_EQ(single.has_immediate, at_end);
    psn = wire::PsnAfter(psn, 1);
    offset += single.size;
  }
  EXPECT_EQ(psn, wire::PsnAfter(train.last_psn(), 1));
  EXPECT_EQ(psn, 2u);
}

TEST(TransportTest, TheRestOfATrainHasItsLastPackets) {
  const Transport train = Train(Transport::Operation::kWrite);
  EXPECT_TRUE(train.After(0).first);
  for (uint32_t gone = 1; gone < train.packets; ++gone) {
    const Transport rest = train.After(gone);
    ASSERT_EQ(rest.packets, train.packets - gone);
    EXPECT_EQ(rest.last_psn(), train.last_psn());
    EXPECT_FALSE(rest.first);
    for (uint32_t i = 0; i < rest.packets; ++i) {
      const Transport here = rest.Single(i), there = train.Single(gone + i);
      EXPECT_EQ(here.psn, there.psn);
      EXPECT_EQ(here.offset, there.offset);
      EXPECT_EQ(here.size, there.size);
      EXPECT_EQ(here.last, there.last);
      EXPECT_EQ(here.ack_request, there.ack_request);
    }
  }
}

TEST(TransportTest, ATrainIsAsLongAsItsPackets) {
  for (const auto operation :
       {Transport::Operation::kSend, Transport::Operation::kWrite,
        Transport::Operation::kReadResponse}) {
    Packet packet;
    packet.grh = RouteHeader();
    auto train = std::make_shared<Transport>(Train(operation));
    train->has_immediate = operation == Transport::Operation::kWrite;
    packet.transport = train;
    EXPECT_EQ(packet.Count(), 4u);
    uint32_t words = 0;
    for (uint32_t i = 0; i < train->packets; ++i) {
      Packet single = packet;
      single.transport = std::make_shared<Transport>(train->Single(i));
      EXPECT_EQ(single.Count(), 1u);
      words += single.Words();
    }
    EXPECT_EQ(packet.Words(), words);
  }
}

class TrainTest : public VerbsPair {
 protected:
  // b's port and what has come through it.
  const TrafficCounters& Arrived() {
    return lab_.PortOf(lab_.Host(2), 1).traffic;
  }
};

TEST_F(TrainTest, CountsAsItsPacketsOnEveryPort) {
  Connect(QpType::kUc);
  const uint64_t before = Arrived().rcv_packets;
  const uint64_t data = Arrived().rcv_data;
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 64 << 10, *b_, 0).ok());
  Settle();
  const uint64_t packets = Arrived().rcv_packets - before;
  EXPECT_EQ(packets, (64u << 10) / 1024);
  // LRH 8, BTH 12, ICRC 4 each, and one RETH of 16.
  EXPECT_EQ((Arrived().rcv_data - data) * 4,
            (64u << 10) + packets * (8 + 12 + 4) + 16);
}

// Each time some of it comes through: that counts as progress, and is not sent
// again.
TEST_F(TrainTest, IsRepeatedFromWhereItWasBrokenOff) {
  Connect(QpType::kRc);
  Lose(0.2);
  const std::string text = Pattern(256 << 10);
  a_->memory->Put(0, text);
  const auto& sent = lab_.PortOf(lab_.Host(1), 1).traffic.xmit_packets;
  const uint64_t before = sent;
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, text.size(), *b_, 0).ok());
  Settle(absl::Minutes(5));
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_EQ(b_->memory->Text(0, text.size()), text);
  // Of n packets, at a fifth lost, about n / 5 gaps, and n / 2 behind each.
  constexpr uint64_t kPackets = (256 << 10) / 1024;
  EXPECT_LT(sent - before, kPackets + kPackets / 5 * kPackets * 2 / 3);
}

TEST_F(TrainTest, LosesSinglePacketsWhereALinkIsFaulty) {
  Connect(QpType::kRc);
  Lose(0.05);
  const std::string text = Pattern(300000);
  a_->memory->Put(0, text);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, text.size(), *b_, 0).ok());
  }
  Settle(absl::Minutes(5));
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess,
                                              verbs::wc_status::kSuccess,
                                              verbs::wc_status::kSuccess));
  EXPECT_EQ(b_->memory->Text(0, text.size()), text);
}

}  // namespace
}  // namespace ibemu::fabric
