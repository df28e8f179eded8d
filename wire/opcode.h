// The values of BTH.OpCode and AETH.Syndrome.
#ifndef IBEMU_WIRE_OPCODE_H_
#define IBEMU_WIRE_OPCODE_H_

#include <cstdint>

namespace ibemu::wire {

// BTH.OpCode, IBA vol 1 §9.2.1, table 38.  Bits 7:5 are the service, the others
// the operation.
namespace opcode {
inline constexpr int kServiceShift = 5;
inline constexpr uint8_t kOperationMask = 0x1f;

inline constexpr uint8_t kReliableConnection = 0;
inline constexpr uint8_t kUnreliableConnection = 1;
inline constexpr uint8_t kUnreliableDatagram = 3;

inline constexpr uint8_t kSendFirst = 0x00;
inline constexpr uint8_t kSendMiddle = 0x01;
inline constexpr uint8_t kSendLast = 0x02;
inline constexpr uint8_t kSendLastImmediate = 0x03;
inline constexpr uint8_t kSendOnly = 0x04;
inline constexpr uint8_t kSendOnlyImmediate = 0x05;
inline constexpr uint8_t kWriteFirst = 0x06;
inline constexpr uint8_t kWriteMiddle = 0x07;
inline constexpr uint8_t kWriteLast = 0x08;
inline constexpr uint8_t kWriteLastImmediate = 0x09;
inline constexpr uint8_t kWriteOnly = 0x0a;
inline constexpr uint8_t kWriteOnlyImmediate = 0x0b;
// The operations from here on exist on reliable connections only.
inline constexpr uint8_t kReadRequest = 0x0c;
inline constexpr uint8_t kReadResponseFirst = 0x0d;
inline constexpr uint8_t kReadResponseMiddle = 0x0e;
inline constexpr uint8_t kReadResponseLast = 0x0f;
inline constexpr uint8_t kReadResponseOnly = 0x10;
inline constexpr uint8_t kAcknowledge = 0x11;
inline constexpr uint8_t kAtomicAcknowledge = 0x12;
inline constexpr uint8_t kCompareSwap = 0x13;
inline constexpr uint8_t kFetchAdd = 0x14;
inline constexpr uint8_t kSendLastInvalidate = 0x16;
inline constexpr uint8_t kSendOnlyInvalidate = 0x17;

// Whole opcodes of datagrams.
inline constexpr uint8_t kUdSendOnly =
    kUnreliableDatagram << kServiceShift | kSendOnly;
inline constexpr uint8_t kUdSendOnlyImmediate =
    kUnreliableDatagram << kServiceShift | kSendOnlyImmediate;
}  // namespace opcode

// AETH.Syndrome, §9.7.5.1.  Bits 7:5 are the kind, the others its value.
namespace syndrome {
inline constexpr uint8_t kKindMask = 0xe0;
inline constexpr uint8_t kValueMask = 0x1f;

inline constexpr uint8_t kAck = 0x00;
inline constexpr uint8_t kNoCredits = 0x1f;  // in kAck: credits are not counted
inline constexpr uint8_t kRnrNak = 0x20;     // the value is its timer
inline constexpr uint8_t kNak = 0x60;

// The values of kNak, table 46.
inline constexpr uint8_t kSequenceError = 0;
inline constexpr uint8_t kInvalidRequest = 1;
inline constexpr uint8_t kRemoteAccessError = 2;
inline constexpr uint8_t kRemoteOperationError = 3;
}  // namespace syndrome

}  // namespace ibemu::wire

#endif  // IBEMU_WIRE_OPCODE_H_
