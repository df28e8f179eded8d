// The header of the reliable multi-packet protocol: IBA vol 1 §13.6.2.
#ifndef IBEMU_MAD_WIRE_RMPP_H_
#define IBEMU_MAD_WIRE_RMPP_H_

#include "wire/layout.h"

namespace ibemu::mad {

// The offset of the RMPP header, which follows the common MAD header
// (§13.6.2.1).
inline constexpr size_t kRmppHeaderOffset = 24;
// The number of bytes after the RMPP header.  The length field counts the rest
// of the class's header in every segment.
inline constexpr uint32_t kRmppPayload = 220;

// The type of an RMPP packet (§13.6.2.1).
enum class RmppType : uint8_t {
  kNone = 0,
  kData = 1,
  kAck = 2,
  kStop = 3,
  kAbort = 4,
};

// RMPPStatus, §13.6.2.1, table 116.  It is 0 unless the type is Stop or Abort.
enum class RmppStatus : uint8_t {
  kNormal = 0,
  kResourcesExhausted = 1,  // Stop
  kTotalTimeTooLong = 118,  // the rest: Abort
  kInconsistentLast = 119,
  kInconsistentFirst = 120,
  kBadType = 121,
  kNewWindowTooSmall = 122,
  kSegmentTooBig = 123,
  kIllegalStatus = 124,
  kUnsupportedVersion = 125,
  kTooManyRetries = 126,
  kUnspecified = 127,
};

// The RMPP header of a MAD.  A MAD whose `active` is false is no RMPP packet,
// and the other fields mean nothing.
struct RmppHeader {
  static constexpr int kBits = 96;
  static constexpr uint8_t kNoResponseTime = 31;

  uint8_t version = 1;
  RmppType type = RmppType::kNone;
  uint8_t resp_time = kNoResponseTime;  // 4.096 us * 2^n
  bool last = false, first = false, active = true;
  RmppStatus status = RmppStatus::kNormal;
  uint32_t segment = 0;           // Data1
  uint32_t length_or_window = 0;  // Data2

  bool operator==(const RmppHeader&) const = default;

  static constexpr auto Layout() {
    using T = RmppHeader;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::version, "RMPPVersion", 8, 0), Rw(&T::type, "RMPPType", 8, 8),
        Rw(&T::resp_time, "RRespTime", 5, 16),
        Rw(&T::last, "RMPPFlags.Last", 1, 21),
        Rw(&T::first, "RMPPFlags.First", 1, 22),
        Rw(&T::active, "RMPPFlags.Active", 1, 23),
        Rw(&T::status, "RMPPStatus", 8, 24),
        Rw(&T::segment, "SegmentNumber", 32, 32),
        Rw(&T::length_or_window, "PayloadLength/NewWindowLast", 32, 64));
  }
};
static_assert(wire::Tiles<RmppHeader>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_RMPP_H_
