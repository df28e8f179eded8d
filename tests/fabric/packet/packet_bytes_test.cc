#include "fabric/packet/packet_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fabric/packet/packet_crc.h"
#include "fabric/packet/transport.h"
#include "wire/packet_headers.h"

namespace ibemu::fabric {
namespace {

using ::testing::Each;
using Operation = Transport::Operation;
using Syndrome = Transport::Syndrome;
using verbs::QpType;
using Bytes = std::vector<std::byte>;

constexpr size_t kBth = 8, kExtended = 20;

Packet PacketCarrying(const Transport& transport) {
  Packet packet;
  packet.slid = wire::Lid{0x17d2};
  packet.dlid = wire::Lid{0x375c};
  packet.sl = 1;
  packet.p_key = 0x2487;
  packet.destination_qpn = 0x87b1b3;
  packet.transport = std::make_shared<Transport>(transport);
  return packet;
}

verbs::Buffer Payload(size_t size) {
  auto payload = std::make_shared<std::vector<std::byte>>(size);
  for (size_t i = 0; i < size; ++i) {
    (*payload)[i] = static_cast<std::byte>(i + 1);
  }
  return payload;
}

Transport Middle(Operation operation) {
  Transport transport;
  transport.operation = operation;
  return transport;
}
Transport First(Operation operation) {
  Transport transport = Middle(operation);
  transport.first = true;
  return transport;
}
Transport Last(Operation operation) {
  Transport transport = Middle(operation);
  transport.last = true;
  return transport;
}
Transport Only(Operation operation) {
  Transport transport = First(operation);
  transport.last = true;
  return transport;
}

template <wire::Structure T>
T HeaderAt(const Bytes& bytes, size_t offset) {
  return wire::Decode<T>(std::span(bytes).subspan(offset));
}
wire::BaseTransportHeader BthOf(const Transport& transport) {
  return HeaderAt<wire::BaseTransportHeader>(
      BytesOf(PacketCarrying(transport), 0), kBth);
}
int WrittenOpcode(const Transport& transport) {
  return BthOf(transport).opcode;
}

// Headers of a packet of the fabric's own kind agree with the count that its
// ports keep.
void ExpectSound(const Packet& packet) {
  const Bytes bytes = BytesOf(packet, 3);
  ASSERT_EQ(bytes.size(), LengthOf(packet));
  const std::span<const std::byte> all(bytes);
  const auto little = [&](size_t from, size_t to) {
    uint32_t value = 0;
    while (to > from) {
      value = value << 8 | std::to_integer<uint32_t>(bytes[--to]);
    }
    return value;
  };
  const size_t end = bytes.size();
  EXPECT_EQ(InvariantCrc(all.first(end - 6)), little(end - 6, end - 2));
  EXPECT_EQ(VariantCrc(all.first(end - 2)), little(end - 2, end));
  EXPECT_EQ(HeaderAt<wire::LocalRouteHeader>(bytes, 0).words * 4u + 2u, end);
}

TEST(PacketBytesTest, AnSmpIsOnLane15) {
  Packet packet;
  packet.vl15 = true;
  packet.slid = packet.dlid = wire::Lid::kPermissive;
  packet.mad.fill(std::byte{0xab});
  const Bytes bytes = BytesOf(packet, 0);
  ASSERT_EQ(bytes.size(), 290u);
  EXPECT_EQ(HeaderAt<wire::LocalRouteHeader>(bytes, 0).vl, 15);
  const auto bth = HeaderAt<wire::BaseTransportHeader>(bytes, kBth);
  EXPECT_EQ(bth.opcode, 0x64);
  EXPECT_EQ(bth.p_key, 0xffff);
  EXPECT_THAT(std::span(bytes).subspan(kExtended + 8, 256),
              Each(std::byte{0xab}));
  ExpectSound(packet);
}

TEST(PacketBytesTest, AGmpHasItsRouteAndItsKeys) {
  Packet packet;
  packet.source_qpn = packet.destination_qpn = 1;
  packet.q_key = mad::kQp1QKey;
  packet.grh = RouteHeader{.sgid = {1, 2},
                           .dgid = {3, 4},
                           .flow_label = 0xabcde,
                           .traffic_class = 7,
                           .hop_limit = 64};
  const Bytes bytes = BytesOf(packet, 2);
  const auto lrh = HeaderAt<wire::LocalRouteHeader>(bytes, 0);
  EXPECT_EQ(lrh.vl, 2);
  EXPECT_EQ(lrh.next_header, wire::NextHeader::kGrh);
  const auto grh = HeaderAt<wire::GlobalRouteHeader>(bytes, 8);
  EXPECT_EQ(grh.version, 6);
  EXPECT_EQ(grh.traffic_class, 7);
  EXPECT_EQ(grh.flow_label, 0xabcdeu);
  EXPECT_EQ(grh.hop_limit, 64);
  EXPECT_EQ(grh.payload, 280);  // BTH, DETH, MAD, ICRC
  EXPECT_EQ(grh.sgid, (wire::Gid{1, 2}));
  EXPECT_EQ(grh.dgid, (wire::Gid{3, 4}));
  const auto deth = HeaderAt<wire::DatagramHeader>(bytes, 60);
  EXPECT_EQ(deth.q_key, mad::kQp1QKey);
  EXPECT_EQ(deth.source_qpn, 1u);
  ExpectSound(packet);
}

// The packet of the specification's example, §7.8.3, as a queue pair sends it.
TEST(PacketBytesTest, AWriteSaysWhereToAndPadsItsPayload) {
  Transport write = Only(Operation::kWrite);
  write.psn = 0x0dec2a;
  write.address = 0x01710a1c015d4002;
  write.key = 0x38f27a05;
  write.length = 14;
  write.message = Payload(16);
  write.offset = 1;
  write.size = 14;
  const Bytes bytes = BytesOf(PacketCarrying(write), 7);
  const std::vector<uint8_t> expected = {
      0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x60, 0x24,
      0x87, 0x00, 0x87, 0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71,
      0x0a, 0x1c, 0x01, 0x5d, 0x40, 0x02, 0x38, 0xf2, 0x7a, 0x05, 0x00,
      0x00, 0x00, 0x0e, 2,    3,    4,    5,    6,    7,    8,    9,
      10,   11,   12,   13,   14,   15,   0,    0};
  ASSERT_EQ(bytes.size(), expected.size() + 6);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::to_integer<uint8_t>(bytes[i]), expected[i]) << i;
  }
  ExpectSound(PacketCarrying(write));
}

TEST(PacketBytesTest, OpcodesSayThePlaceInTheMessage) {
  EXPECT_EQ(WrittenOpcode(First(Operation::kSend)), 0x00);
  EXPECT_EQ(WrittenOpcode(Middle(Operation::kSend)), 0x01);
  EXPECT_EQ(WrittenOpcode(Last(Operation::kSend)), 0x02);
  EXPECT_EQ(WrittenOpcode(Only(Operation::kSend)), 0x04);
  EXPECT_EQ(WrittenOpcode(First(Operation::kWrite)), 0x06);
  EXPECT_EQ(WrittenOpcode(Middle(Operation::kWrite)), 0x07);
  EXPECT_EQ(WrittenOpcode(Last(Operation::kWrite)), 0x08);
  EXPECT_EQ(WrittenOpcode(Only(Operation::kWrite)), 0x0a);
  EXPECT_EQ(WrittenOpcode(Only(Operation::kReadRequest)), 0x0c);
  EXPECT_EQ(WrittenOpcode(First(Operation::kReadResponse)), 0x0d);
  EXPECT_EQ(WrittenOpcode(Middle(Operation::kReadResponse)), 0x0e);
  EXPECT_EQ(WrittenOpcode(Last(Operation::kReadResponse)), 0x0f);
  EXPECT_EQ(WrittenOpcode(Only(Operation::kReadResponse)), 0x10);
  EXPECT_EQ(WrittenOpcode(Middle(Operation::kAcknowledge)), 0x11);
  EXPECT_EQ(WrittenOpcode(Only(Operation::kAtomicResponse)), 0x12);
  EXPECT_EQ(WrittenOpcode(Only(Operation::kCompareSwap)), 0x13);
  EXPECT_EQ(WrittenOpcode(Only(Operation::kFetchAdd)), 0x14);

  Transport with_immediate = Last(Operation::kSend);
  with_immediate.has_immediate = true;
  EXPECT_EQ(WrittenOpcode(with_immediate), 0x03);
  with_immediate.first = true;
  EXPECT_EQ(WrittenOpcode(with_immediate), 0x05);
  with_immediate.operation = Operation::kWrite;
  EXPECT_EQ(WrittenOpcode(with_immediate), 0x0b);
  with_immediate.service = QpType::kUc;
  EXPECT_EQ(WrittenOpcode(with_immediate), 0x2b);
}

TEST(PacketBytesTest, APacketOfAConnectionTellsWhetherItsSenderHasMigrated) {
  Packet packet = PacketCarrying(Only(Operation::kSend));
  const auto says = [&packet] {
    return HeaderAt<wire::BaseTransportHeader>(BytesOf(packet, 0), kBth)
        .migrated;
  };
  EXPECT_TRUE(says()) << "as one does that has no alternate path";
  packet.migrated = false;
  EXPECT_FALSE(says());
}

TEST(PacketBytesTest, ADatagramNamesItsSenderBeforeTheImmediate) {
  Transport datagram = Only(Operation::kSend);
  datagram.service = QpType::kUd;
  datagram.has_immediate = datagram.ack_request = true;
  datagram.immediate = 0x04030201;  // as in the client's memory
  datagram.message = Payload(5);
  datagram.size = 5;
  Packet packet = PacketCarrying(datagram);
  packet.source_qpn = 0x123456;
  packet.q_key = 0x11;
  const Bytes bytes = BytesOf(packet, 0);
  const auto bth = HeaderAt<wire::BaseTransportHeader>(bytes, kBth);
  EXPECT_EQ(bth.opcode, 0x65);
  EXPECT_EQ(bth.pad, 3);
  EXPECT_FALSE(bth.ack_request);  // nobody answers
  const auto deth = HeaderAt<wire::DatagramHeader>(bytes, kExtended);
  EXPECT_EQ(deth.q_key, 0x11u);
  EXPECT_EQ(deth.source_qpn, 0x123456u);
  EXPECT_EQ(bytes[kExtended + 8], std::byte{1});
  EXPECT_EQ(bytes[kExtended + 11], std::byte{4});
  EXPECT_EQ(bytes[kExtended + 12], std::byte{1});
  ExpectSound(packet);
}

TEST(PacketBytesTest, AnAtomicSaysWhatToCompareAndGetsWhatWasThere) {
  Transport atomic = Only(Operation::kCompareSwap);
  atomic.ack_request = true;
  atomic.address = 0x1000;
  atomic.key = 5;
  atomic.compare = 6;
  atomic.swap_or_add = 7;
  const auto request = HeaderAt<wire::AtomicHeader>(
      BytesOf(PacketCarrying(atomic), 0), kExtended);
  EXPECT_EQ(request.address, 0x1000u);
  EXPECT_EQ(request.key, 5u);
  EXPECT_EQ(request.compare, 6u);
  EXPECT_EQ(request.swap_or_add, 7u);
  EXPECT_TRUE(BthOf(atomic).ack_request);
  ExpectSound(PacketCarrying(atomic));

  Transport answer = Only(Operation::kAtomicResponse);
  answer.original = 8;
  const auto original = HeaderAt<wire::AtomicAcknowledgeHeader>(
      BytesOf(PacketCarrying(answer), 0), kExtended + 4);
  EXPECT_EQ(original.original, 8u);
  ExpectSound(PacketCarrying(answer));
}

TEST(PacketBytesTest, AnAcknowledgeSaysWhatBecameOfTheRequest) {
  const auto syndrome = [](Syndrome value) {
    Transport answer = Middle(Operation::kAcknowledge);
    answer.syndrome = value;
    answer.rnr_timer = 12;
    ExpectSound(PacketCarrying(answer));
    return HeaderAt<wire::AcknowledgeHeader>(BytesOf(PacketCarrying(answer), 0),
                                             kExtended)
        .syndrome;
  };
  EXPECT_EQ(syndrome(Syndrome::kAck), 0x1f);
  EXPECT_EQ(syndrome(Syndrome::kRnrNak), 0x2c);
  EXPECT_EQ(syndrome(Syndrome::kSequenceError), 0x60);
  EXPECT_EQ(syndrome(Syndrome::kInvalidRequest), 0x61);
  EXPECT_EQ(syndrome(Syndrome::kAccessError), 0x62);
  EXPECT_EQ(syndrome(Syndrome::kOperationError), 0x63);
}

TEST(PacketBytesTest, OnlyTheMiddleOfAReadHasNoAcknowledge) {
  for (const bool first : {true, false}) {
    for (const bool last : {true, false}) {
      Transport answer = Middle(Operation::kReadResponse);
      answer.first = first;
      answer.last = last;
      answer.message = Payload(4);
      answer.size = 4;
      EXPECT_EQ(LengthOf(PacketCarrying(answer)), first || last ? 34u : 30u);
      ExpectSound(PacketCarrying(answer));
    }
  }
}

TEST(PacketBytesTest, ALinkThatNobodyChecksHasTheSameBytesWithoutChecksums) {
  const Packet packet = PacketCarrying(
      {.psn = 7,
       .message = std::make_shared<std::vector<std::byte>>(10, std::byte{5}),
       .size = 10});
  Bytes expected = BytesOf(packet, 0);
  constexpr size_t kIcrc = 4, kVcrc = 2;
  expected.resize(expected.size() - kVcrc - kIcrc);
  expected.resize(expected.size() + kIcrc);
  EXPECT_EQ(UncheckedBytesOf(packet), expected);
}

}  // namespace
}  // namespace ibemu::fabric
