#include "daemon/remote_node/format/packet_train.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fabric/packet/packet_bytes.h"
#include "fabric/packet/transport.h"
#include "testing/verbs_end.h"

namespace ibemu::daemon {
namespace {

using fabric::Packet, fabric::Transport;
using Bytes = std::vector<std::byte>;

Packet Train(uint32_t packets, size_t end) {
  constexpr size_t kBefore = 7;  // of another part of the message
  constexpr uint32_t kMtu = 256;
  const std::string text =
      testing::Pattern(kBefore + (packets - 1) * size_t{kMtu} + end);
  auto message = std::make_shared<Bytes>();
  for (const char letter : text) message->push_back(std::byte(letter));
  Transport transport;
  transport.operation = Transport::Operation::kWrite;
  transport.first = transport.last = true;
  transport.has_immediate = transport.ack_request = transport.solicited = true;
  transport.immediate = 0x1234;
  transport.address = 0xabcdef;
  transport.key = 77;
  transport.psn = 0xffffff;  // and wraps
  transport.offset = kBefore;
  transport.size = text.size() - kBefore;
  transport.length = static_cast<uint32_t>(transport.size);
  transport.packets = packets;
  transport.payload = kMtu;
  transport.message = std::move(message);
  Packet packet;
  packet.slid = wire::Lid{1};
  packet.dlid = wire::Lid{2};
  packet.destination_qpn = 3;
  packet.transport = std::make_shared<Transport>(std::move(transport));
  return packet;
}

// What is on the wire, packet by packet.
std::vector<Bytes> Wire(const Packet& packets) {
  std::vector<Bytes> wire;
  for (uint32_t i = 0; i < packets.Count(); ++i) {
    Packet single = packets;
    single.transport =
        std::make_shared<Transport>(packets.transport->Single(i));
    wire.push_back(fabric::BytesOf(single, 0));
  }
  return wire;
}

TEST(PacketTrain, ComesOutAsItWentIn) {
  for (const uint32_t packets : {2u, 3u, PacketTrain::kMaxPackets}) {
    for (const size_t end : {size_t{1}, size_t{255}, size_t{256}}) {
      const Packet train = Train(packets, end);
      const auto back = DecodeTrain(EncodeTrain(train));
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(back->Count(), packets);
      EXPECT_EQ(back->Words(), train.Words());
      EXPECT_EQ(Wire(*back), Wire(train));
    }
  }
}

TEST(PacketTrain, ASendKeepsTheKeyThatItInvalidates) {
  Packet train = Train(3, 10);
  Transport transport = *train.transport;
  transport.operation = Transport::Operation::kSend;
  transport.has_immediate = false;
  transport.has_invalidate = true;
  train.transport = std::make_shared<Transport>(std::move(transport));
  const auto back = DecodeTrain(EncodeTrain(train));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->transport->key, 77u);
  EXPECT_EQ(Wire(*back), Wire(train));
}

TEST(PacketTrain, APartOfAMessageIsNotItsEnd) {
  const Packet whole = Train(5, 256);
  Packet part = whole;
  Transport transport = whole.transport->After(1);
  transport.last = transport.has_immediate = transport.solicited = false;
  part.transport = std::make_shared<Transport>(std::move(transport));
  const auto back = DecodeTrain(EncodeTrain(part));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(Wire(*back), Wire(part));
}

TEST(PacketTrain, WhatIsCutOffOrTooLongIsNone) {
  const Bytes good = EncodeTrain(Train(3, 10));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(DecodeTrain(std::span(good).first(size)).ok()) << size;
  }
  Bytes longer = good;
  longer.push_back({});
  EXPECT_FALSE(DecodeTrain(longer).ok());
}

TEST(PacketTrain, PacketsThatDoNotFollowEachOtherAreNone) {
  const auto with = [](auto change) {
    Packet train = Train(3, 10);
    Bytes bytes = EncodeTrain(train);
    const auto header = wire::Decode<PacketTrain>(bytes);
    Packet last = train;
    Transport transport = train.transport->Single(2);
    change(last, transport);
    last.transport = std::make_shared<Transport>(std::move(transport));
    const Bytes wire = fabric::BytesOf(last, 0);
    const auto at = bytes.begin() + wire::kBytes<PacketTrain> +
                    static_cast<std::ptrdiff_t>(header.first_bytes);
    std::copy(wire.begin(), wire.begin() + header.last_bytes, at);
    return DecodeTrain(bytes).ok();
  };
  EXPECT_TRUE(with([](Packet&, Transport&) {}));
  EXPECT_FALSE(
      with([](Packet& last, Transport&) { last.dlid = wire::Lid{9}; }));
  EXPECT_FALSE(with([](Packet& last, Transport&) { last.sl = 3; }));
  EXPECT_FALSE(with([](Packet& last, Transport&) { last.p_key = 0x8001; }));
  EXPECT_FALSE(
      with([](Packet& last, Transport&) { last.destination_qpn = 4; }));
  EXPECT_FALSE(with([](Packet&, Transport& transport) { transport.psn = 9; }));
  EXPECT_FALSE(with([](Packet&, Transport& transport) {
    transport.service = verbs::QpType::kUc;
  }));
}

}  // namespace
}  // namespace ibemu::daemon
