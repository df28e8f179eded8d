// The blocks of pcapng, draft-ietf-opsawg-pcapng.  Either byte order is good;
// the section's magic number tells which: big-endian here.
#ifndef IBEMU_DAEMON_CAPTURE_PCAPNG_FORMAT_H_
#define IBEMU_DAEMON_CAPTURE_PCAPNG_FORMAT_H_

#include <cstdint>

#include "daemon/capture/capture_format.h"
#include "wire/layout.h"

namespace ibemu::daemon {

// Section 3.1: every block, before and behind its body.
struct PcapngBlock {
  static constexpr int kBits = 64;
  static constexpr uint32_t kSection = 0x0a0d0d0a;
  static constexpr uint32_t kInterface = 1;
  static constexpr uint32_t kPacket = 6;  // an Enhanced Packet Block

  uint32_t type = 0;
  uint32_t length = 0;  // bytes, all of the block

  static constexpr auto Layout() {
    using T = PcapngBlock;
    using wire::Rw;
    return wire::Table(Rw(&T::type, "Block Type", 32, 0),
                       Rw(&T::length, "Block Total Length", 32, 32));
  }
};
static_assert(wire::Tiles<PcapngBlock>());

// Section 3.1: the length of a block again, at its end, so that readers can go
// backwards.
struct PcapngBlockEnd {
  static constexpr int kBits = 32;

  uint32_t length = 0;

  static constexpr auto Layout() {
    return wire::Table(
        wire::Rw(&PcapngBlockEnd::length, "Block Total Length", 32, 0));
  }
};
static_assert(wire::Tiles<PcapngBlockEnd>());

// Section 3.5: before an option's value, which is padded to 4 bytes.
struct PcapngOption {
  static constexpr int kBits = 32;
  static constexpr uint16_t kComment = 1;      // of every block
  static constexpr uint16_t kPacketFlags = 2;  // of a packet; 32 bits
  static constexpr uint16_t kInterfaceName = 2, kInterfaceDescription = 3;
  static constexpr uint16_t kUserApplication = 4;  // of a section
  static constexpr uint16_t kResolution = 9;       // of an interface's times

  uint16_t code = 0;  // 0: no more
  uint16_t length = 0;

  static constexpr auto Layout() {
    using T = PcapngOption;
    using wire::Rw;
    return wire::Table(Rw(&T::code, "Option Code", 16, 0),
                       Rw(&T::length, "Option Length", 16, 16));
  }
};
static_assert(wire::Tiles<PcapngOption>());

// Section 4.1.
struct PcapngSection {
  static constexpr int kBits = 128;
  static constexpr uint64_t kUnknown = ~uint64_t{0};

  uint32_t magic = 0x1a2b3c4d;
  uint16_t major = 1, minor = 0;
  uint64_t length = kUnknown;

  static constexpr auto Layout() {
    using T = PcapngSection;
    using wire::Rw;
    return wire::Table(Rw(&T::magic, "Byte-Order Magic", 32, 0),
                       Rw(&T::major, "Major Version", 16, 32),
                       Rw(&T::minor, "Minor Version", 16, 48),
                       Rw(&T::length, "Section Length", 64, 64));
  }
};
static_assert(wire::Tiles<PcapngSection>());

// Section 4.2.
struct PcapngInterface {
  static constexpr int kBits = 64;

  uint16_t link_type = PcapFileHeader::kErf;
  uint32_t longest = 0;  // no limit

  static constexpr auto Layout() {
    using T = PcapngInterface;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::link_type, "LinkType", 16, 0), Reserved(16, 16),
                       Rw(&T::longest, "SnapLen", 32, 32));
  }
};
static_assert(wire::Tiles<PcapngInterface>());

// Section 4.3; the packet follows, padded to 4 bytes.
struct PcapngPacket {
  static constexpr int kBits = 160;

  uint32_t interface_id = 0;
  uint32_t time_high = 0, time_low = 0;  // since 1970, in the interface's unit
  uint32_t captured = 0, original = 0;   // bytes

  static constexpr auto Layout() {
    using T = PcapngPacket;
    using wire::Rw;
    return wire::Table(Rw(&T::interface_id, "Interface ID", 32, 0),
                       Rw(&T::time_high, "Timestamp (High)", 32, 32),
                       Rw(&T::time_low, "Timestamp (Low)", 32, 64),
                       Rw(&T::captured, "Captured Packet Length", 32, 96),
                       Rw(&T::original, "Original Packet Length", 32, 128));
  }
};
static_assert(wire::Tiles<PcapngPacket>());

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_PCAPNG_FORMAT_H_
