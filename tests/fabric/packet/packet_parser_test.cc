#include "fabric/packet/packet_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fabric/packet/packet_bytes.h"
#include "fabric/packet/transport.h"
#include "wire/packet_headers.h"

namespace ibemu::fabric {
namespace {

using ::testing::HasSubstr;
using Operation = Transport::Operation;
using Syndrome = Transport::Syndrome;
using verbs::QpType;
using Bytes = std::vector<std::byte>;

constexpr size_t kVcrcBytes = 2, kBthAt = 8;

Bytes WireBytes(const Packet& packet) {
  Bytes bytes = BytesOf(packet, 0);
  bytes.resize(bytes.size() - kVcrcBytes);
  return bytes;
}

Packet Addressed() {
  Packet packet;
  packet.slid = wire::Lid{7};
  packet.dlid = wire::Lid{9};
  packet.sl = 3;
  packet.p_key = 0x8001;
  packet.destination_qpn = 0x123456;
  return packet;
}

Packet Carrying(Transport transport) {
  Packet packet = Addressed();
  transport.psn = 0xabcdef;
  packet.transport = std::make_shared<Transport>(std::move(transport));
  return packet;
}

Transport With(Operation operation, bool first, bool last, size_t size) {
  Transport transport;
  transport.operation = operation;
  transport.first = first;
  transport.last = last;
  transport.size = size;
  if (size == 0) return transport;
  auto payload = std::make_shared<Bytes>(size);
  for (size_t i = 0; i < size; ++i) (*payload)[i] = std::byte(i + 1);
  transport.message = std::move(payload);
  return transport;
}

// The bytes of what was parsed are those that it was parsed from.
void ExpectRoundTrip(const Packet& packet) {
  const Bytes bytes = WireBytes(packet);
  const absl::StatusOr<Packet> parsed = ParsePacket(bytes);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(WireBytes(*parsed), bytes);
}

std::string Refusal(const Bytes& bytes) {
  return std::string(ParsePacket(bytes).status().message());
}

TEST(PacketParser, ReadsEveryOperationOfAConnection) {
  for (const QpType service : {QpType::kRc, QpType::kUc}) {
    for (const Operation operation : {Operation::kSend, Operation::kWrite}) {
      for (const bool first : {false, true}) {
        for (const bool last : {false, true}) {
          for (const bool immediate : {false, last}) {
            Transport transport = With(operation, first, last, 13);
            transport.service = service;
            transport.has_immediate = immediate;
            transport.immediate = 0x11223344;
            transport.solicited = last;
            transport.address = 0x1122334455667788;
            transport.key = 0x99;
            transport.length = 13;
            ExpectRoundTrip(Carrying(transport));
          }
        }
      }
    }
  }
  for (const bool first : {false, true}) {
    for (const bool last : {false, true}) {
      ExpectRoundTrip(Carrying(With(Operation::kReadResponse, first, last, 8)));
    }
  }
  for (const Operation operation :
       {Operation::kReadRequest, Operation::kCompareSwap, Operation::kFetchAdd,
        Operation::kAtomicResponse, Operation::kAcknowledge}) {
    Transport transport = With(operation, true, true, 0);
    transport.address = 0x1000;
    transport.key = 5;
    transport.length = 4096;
    transport.compare = 6;
    transport.swap_or_add = 7;
    transport.original = 8;
    ExpectRoundTrip(Carrying(transport));
  }
}

TEST(PacketParser, ReadsWhichKeyASendInvalidates) {
  for (const bool first : {false, true}) {
    Transport transport = With(Operation::kSend, first, true, 13);
    transport.has_invalidate = true;
    transport.key = 0x11223344;
    const Packet packet = Carrying(transport);
    ExpectRoundTrip(packet);
    const Bytes bytes = WireBytes(packet);
    EXPECT_EQ(bytes[kBthAt], std::byte(first ? 0x17 : 0x16));
    EXPECT_EQ(ParsePacket(bytes)->transport->key, 0x11223344u);
    EXPECT_EQ(bytes.size(), packet.Words() * 4u);
  }
}

TEST(PacketParser, RefusesToInvalidateOnAnUnreliableConnection) {
  Transport transport = With(Operation::kSend, true, true, 13);
  transport.has_invalidate = true;
  Bytes bytes = WireBytes(Carrying(transport));
  bytes[kBthAt] |= std::byte{0x20};
  EXPECT_EQ(Refusal(bytes), "BTH has the opcode 0x37");
}

TEST(PacketParser, ReadsWhetherTheSenderHasMigrated) {
  Packet packet = Carrying(With(Operation::kSend, true, true, 8));
  for (const bool migrated : {true, false}) {
    packet.migrated = migrated;
    ExpectRoundTrip(packet);
    EXPECT_EQ(ParsePacket(WireBytes(packet))->migrated, migrated);
  }
}

TEST(PacketParser, ReadsEverySyndrome) {
  for (const Syndrome syndrome :
       {Syndrome::kAck, Syndrome::kRnrNak, Syndrome::kSequenceError,
        Syndrome::kInvalidRequest, Syndrome::kAccessError,
        Syndrome::kOperationError}) {
    Transport transport = With(Operation::kAcknowledge, true, true, 0);
    transport.syndrome = syndrome;
    transport.rnr_timer = syndrome == Syndrome::kRnrNak ? 21 : 0;
    ExpectRoundTrip(Carrying(transport));
  }
}

TEST(PacketParser, ReadsADatagramWithItsGlobalRoute) {
  Transport transport = With(Operation::kSend, true, true, 5);
  transport.service = QpType::kUd;
  Packet packet = Carrying(transport);
  packet.source_qpn = 0x42;
  packet.q_key = 0x11111111;
  packet.grh = RouteHeader{.sgid = {1, 2},
                           .dgid = {3, 4},
                           .flow_label = 5,
                           .traffic_class = 6,
                           .hop_limit = 7};
  ExpectRoundTrip(packet);
}

TEST(PacketParser, DatagramsForTheSpecialQueuePairsAreMads) {
  Packet smp;
  smp.vl15 = true;
  smp.slid = smp.dlid = wire::Lid::kPermissive;
  smp.mad[0] = std::byte{1};
  smp.mad[255] = std::byte{2};
  const auto parsed = ParsePacket(WireBytes(smp));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(parsed->vl15);
  EXPECT_EQ(parsed->mad, smp.mad);
  EXPECT_EQ(parsed->transport, nullptr);

  Packet gmp = Addressed();
  gmp.destination_qpn = 1;
  gmp.source_qpn = 1;
  gmp.q_key = mad::kQp1QKey;
  ExpectRoundTrip(gmp);
  EXPECT_EQ(ParsePacket(WireBytes(gmp))->transport, nullptr);
}

TEST(PacketParser, SaysWhatIsWrong) {
  const Bytes good = WireBytes(Carrying(With(Operation::kSend, true, true, 8)));
  const auto changed = [&](auto change) {
    Bytes bytes = good;
    change(bytes);
    return Refusal(bytes);
  };
  EXPECT_EQ(Refusal({}), "LRH needs 8 bytes, the packet has 0");
  EXPECT_EQ(changed([](Bytes& bytes) { bytes.pop_back(); }),
            "LRH says 32 bytes, the packet has 31");
  EXPECT_EQ(changed([](Bytes& bytes) {
              wire::Put<&wire::LocalRouteHeader::next_header>(
                  bytes, wire::NextHeader{0});
            }),
            "LRH announces a raw packet");
  EXPECT_EQ(changed([](Bytes& bytes) {
              wire::Put<&wire::LocalRouteHeader::next_header>(
                  bytes, wire::NextHeader::kGrh);
            }),
            "GRH needs 40 bytes, the packet has 24");
  EXPECT_EQ(changed([](Bytes& bytes) { bytes[kBthAt] = std::byte{0x1f}; }),
            "BTH has the opcode 0x1f");
  EXPECT_EQ(changed([](Bytes& bytes) { bytes[kBthAt] = std::byte{0xe4}; }),
            "BTH has the opcode 0xe4");
  EXPECT_EQ(changed([](Bytes& bytes) { bytes[kBthAt] = std::byte{0x0c}; }),
            "RETH needs 16 bytes, the packet has 8");
  EXPECT_EQ(changed([](Bytes& bytes) { bytes[0] |= std::byte{0xf0}; }),
            "lane 15 is for queue pair 0 alone");
}

TEST(PacketParser, RefusesWhatTheSpecialQueuePairsDoNotTake) {
  Packet gmp = Addressed();
  gmp.destination_qpn = 1;
  Bytes bytes = WireBytes(gmp);
  bytes.resize(bytes.size() - 4);
  wire::Put<&wire::LocalRouteHeader::words>(
      bytes, static_cast<uint16_t>(bytes.size() / 4));
  EXPECT_EQ(Refusal(bytes), "a MAD has 256 bytes, not 252");

  Packet on_data_lane = Addressed();
  on_data_lane.destination_qpn = 0;
  EXPECT_EQ(Refusal(WireBytes(on_data_lane)),
            "queue pair 0 is for lane 15 alone");
}

TEST(PacketParser, RefusesReservedSyndromes) {
  Transport transport = With(Operation::kAcknowledge, true, true, 0);
  Bytes bytes = WireBytes(Carrying(transport));
  bytes[20] = std::byte{0x7f};
  EXPECT_THAT(Refusal(bytes), HasSubstr("reserved syndrome 0x7f"));
}

}  // namespace
}  // namespace ibemu::fabric
