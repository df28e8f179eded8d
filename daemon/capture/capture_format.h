// The formats of a capture: ERF records, and pcap files of them.
#ifndef IBEMU_DAEMON_CAPTURE_CAPTURE_FORMAT_H_
#define IBEMU_DAEMON_CAPTURE_CAPTURE_FORMAT_H_

#include <cstdint>

#include "wire/layout.h"

namespace ibemu::daemon {

// The header of an ERF record: Endace's "ERF types reference", section 1.  The
// packet follows it.  All fields but the timestamp are big-endian.
struct ErfHeader {
  static constexpr int kBits = 128;
  static constexpr uint8_t kInfiniband = 21;  // LRH to VCRC
  static constexpr uint8_t kPad = 48;         // a record without a packet
  // A type used only between daemon and client: the packets that follow are
  // those of the port with this number (32 bits).  If the port was not told
  // before, its name follows, a zero byte, and the name of the port at the
  // other end of its cable, which may be empty.
  static constexpr uint8_t kPort = 127;

  // The capture interface, which on an Endace card that taps a cable tells the
  // direction.  The values are those of pcapng's epb_flags.
  enum class Direction : uint8_t { kUnknown = 0, kReceived = 1, kSent = 2 };

  // Seconds since 1970 times 2^32, stored in little-endian order.
  uint64_t swapped_timestamp = 0;
  uint8_t type = kInfiniband;
  bool varying_length = true;
  Direction direction = Direction::kUnknown;
  uint16_t record_length = 0;  // bytes, this header included
  uint16_t lost = 0;           // packets lost since the last record
  uint16_t wire_length = 0;    // bytes of the packet

  static constexpr auto Layout() {
    using T = ErfHeader;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::swapped_timestamp, "ts", 64, 0), Rw(&T::type, "type", 8, 64),
        Reserved(5, 72), Rw(&T::varying_length, "flags.vlen", 1, 77),
        Rw(&T::direction, "flags.cap", 2, 78),
        Rw(&T::record_length, "rlen", 16, 80), Rw(&T::lost, "lctr", 16, 96),
        Rw(&T::wire_length, "wlen", 16, 112));
  }

  uint64_t timestamp() const { return __builtin_bswap64(swapped_timestamp); }
};
static_assert(wire::Tiles<ErfHeader>());

// The header of a pcap file: draft-ietf-opsawg-pcap, section 4.  A file may be
// of either byte order, which the magic number tells.
struct PcapFileHeader {
  static constexpr int kBits = 192;
  static constexpr uint32_t kNanoseconds = 0xa1b23c4d;
  static constexpr uint32_t kErf = 197;

  uint32_t magic = kNanoseconds;
  uint16_t major = 2, minor = 4;
  uint32_t longest = 65536;
  uint32_t link_type = kErf;

  static constexpr auto Layout() {
    using T = PcapFileHeader;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::magic, "Magic", 32, 0),
                       Rw(&T::major, "Major", 16, 32),
                       Rw(&T::minor, "Minor", 16, 48), Reserved(64, 64),
                       Rw(&T::longest, "SnapLen", 32, 128),
                       Rw(&T::link_type, "LinkType", 32, 160));
  }
};
static_assert(wire::Tiles<PcapFileHeader>());

// The header before each packet, which here is an ERF record: section 5.
struct PcapPacketHeader {
  static constexpr int kBits = 128;

  uint32_t seconds = 0, nanoseconds = 0;  // since 1970
  uint32_t captured = 0, original = 0;    // bytes

  static constexpr auto Layout() {
    using T = PcapPacketHeader;
    using wire::Rw;
    return wire::Table(Rw(&T::seconds, "Seconds", 32, 0),
                       Rw(&T::nanoseconds, "Nanoseconds", 32, 32),
                       Rw(&T::captured, "CapturedLength", 32, 64),
                       Rw(&T::original, "OriginalLength", 32, 96));
  }
};
static_assert(wire::Tiles<PcapPacketHeader>());

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_CAPTURE_FORMAT_H_
