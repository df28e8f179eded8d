// The headers of InfiniBand packets as on the wire: IBA vol 1 §7.7, §8.3, §9.2
// and §9.3.
#ifndef IBEMU_WIRE_PACKET_HEADERS_H_
#define IBEMU_WIRE_PACKET_HEADERS_H_

#include <cstdint>

#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::wire {

// LRH.LNH, §7.7.5: the header that follows the LRH.
enum class NextHeader : uint8_t { kBth = 2, kGrh = 3 };

// LRH, §7.7.
struct LocalRouteHeader {
  static constexpr int kBits = 64;

  uint8_t vl = 0, version = 0, sl = 0;
  NextHeader next_header = NextHeader::kBth;
  Lid dlid{};
  uint16_t words = 0;  // from LRH to ICRC, in units of 4 bytes
  Lid slid{};

  static constexpr auto Layout() {
    using T = LocalRouteHeader;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::vl, "VL", 4, 0), Rw(&T::version, "LVer", 4, 4),
                       Rw(&T::sl, "SL", 4, 8), Reserved(2, 12),
                       Rw(&T::next_header, "LNH", 2, 14),
                       Rw(&T::dlid, "DLID", 16, 16), Reserved(5, 32),
                       Rw(&T::words, "PktLen", 11, 37),
                       Rw(&T::slid, "SLID", 16, 48));
  }
};
static_assert(wire::Tiles<LocalRouteHeader>());

// GRH, §8.3.
struct GlobalRouteHeader {
  static constexpr int kBits = 320;
  static constexpr uint8_t kIbaTransport = 0x1b;

  uint8_t version = 6, traffic_class = 0;
  uint32_t flow_label = 0;
  uint16_t payload = 0;  // bytes after the GRH, to ICRC
  uint8_t next_header = kIbaTransport, hop_limit = 0;
  Gid sgid, dgid;

  static constexpr auto Layout() {
    using T = GlobalRouteHeader;
    using wire::Rw;
    return wire::Table(
        Rw(&T::version, "IPVer", 4, 0), Rw(&T::traffic_class, "TClass", 8, 4),
        Rw(&T::flow_label, "FlowLabel", 20, 12),
        Rw(&T::payload, "PayLen", 16, 32), Rw(&T::next_header, "NxtHdr", 8, 48),
        Rw(&T::hop_limit, "HopLmt", 8, 56), Rw(&T::sgid, "SGID", 128, 64),
        Rw(&T::dgid, "DGID", 128, 192));
  }
};
static_assert(wire::Tiles<GlobalRouteHeader>());

// BTH, §9.2.
struct BaseTransportHeader {
  static constexpr int kBits = 96;

  uint8_t opcode = 0;
  bool solicited = false, migrated = false;
  uint8_t pad = 0, version = 0;
  uint16_t p_key = 0;
  uint32_t destination_qpn = 0;
  bool ack_request = false;
  uint32_t psn = 0;

  static constexpr auto Layout() {
    using T = BaseTransportHeader;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::opcode, "OpCode", 8, 0), Rw(&T::solicited, "SE", 1, 8),
        Rw(&T::migrated, "M", 1, 9), Rw(&T::pad, "PadCnt", 2, 10),
        Rw(&T::version, "TVer", 4, 12), Rw(&T::p_key, "P_Key", 16, 16),
        Reserved(8, 32), Rw(&T::destination_qpn, "DestQP", 24, 40),
        Rw(&T::ack_request, "A", 1, 64), Reserved(7, 65),
        Rw(&T::psn, "PSN", 24, 72));
  }
};
static_assert(wire::Tiles<BaseTransportHeader>());

// DETH, §9.3.2.
struct DatagramHeader {
  static constexpr int kBits = 64;

  uint32_t q_key = 0, source_qpn = 0;

  static constexpr auto Layout() {
    using T = DatagramHeader;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::q_key, "Q_Key", 32, 0), Reserved(8, 32),
                       Rw(&T::source_qpn, "SrcQP", 24, 40));
  }
};
static_assert(wire::Tiles<DatagramHeader>());

// RETH, §9.3.3.
struct RdmaHeader {
  static constexpr int kBits = 128;

  uint64_t address = 0;
  uint32_t key = 0, length = 0;

  static constexpr auto Layout() {
    using T = RdmaHeader;
    using wire::Rw;
    return wire::Table(Rw(&T::address, "VA", 64, 0),
                       Rw(&T::key, "R_Key", 32, 64),
                       Rw(&T::length, "DMALen", 32, 96));
  }
};
static_assert(wire::Tiles<RdmaHeader>());

// AtomicETH, §9.3.4.
struct AtomicHeader {
  static constexpr int kBits = 224;

  uint64_t address = 0;
  uint32_t key = 0;
  uint64_t swap_or_add = 0, compare = 0;

  static constexpr auto Layout() {
    using T = AtomicHeader;
    using wire::Rw;
    return wire::Table(Rw(&T::address, "VA", 64, 0),
                       Rw(&T::key, "R_Key", 32, 64),
                       Rw(&T::swap_or_add, "SwapDt", 64, 96),
                       Rw(&T::compare, "CmpDt", 64, 160));
  }
};
static_assert(wire::Tiles<AtomicHeader>());

// IETH, §9.3: the key that the responder invalidates.
struct InvalidateHeader {
  static constexpr int kBits = 32;

  uint32_t key = 0;

  static constexpr auto Layout() {
    return wire::Table(wire::Rw(&InvalidateHeader::key, "R_Key", 32, 0));
  }
};
static_assert(wire::Tiles<InvalidateHeader>());

// AETH, §9.3.5.
struct AcknowledgeHeader {
  static constexpr int kBits = 32;

  uint8_t syndrome = 0;
  uint32_t message_number = 0;

  static constexpr auto Layout() {
    using T = AcknowledgeHeader;
    using wire::Rw;
    return wire::Table(Rw(&T::syndrome, "Syndrome", 8, 0),
                       Rw(&T::message_number, "MSN", 24, 8));
  }
};
static_assert(wire::Tiles<AcknowledgeHeader>());

// AtomicAckETH, §9.5.3.
struct AtomicAcknowledgeHeader {
  static constexpr int kBits = 64;

  uint64_t original = 0;

  static constexpr auto Layout() {
    return wire::Table(
        wire::Rw(&AtomicAcknowledgeHeader::original, "OrigRemDt", 64, 0));
  }
};
static_assert(wire::Tiles<AtomicAcknowledgeHeader>());

}  // namespace ibemu::wire

#endif  // IBEMU_WIRE_PACKET_HEADERS_H_
