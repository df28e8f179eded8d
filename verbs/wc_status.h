// Numbers of work completions: enum ib_wc_status, ib_wc_opcode, ib_wc_flags and
// ib_send_flags of the Linux kernel.
#ifndef IBEMU_VERBS_WC_STATUS_H_
#define IBEMU_VERBS_WC_STATUS_H_

#include <cstdint>

namespace ibemu::verbs {

namespace wc_status {
inline constexpr uint32_t kSuccess = 0;
inline constexpr uint32_t kLocalLength = 1;
inline constexpr uint32_t kLocalQpOperation = 2;
inline constexpr uint32_t kLocalProtection = 4;
inline constexpr uint32_t kFlushed = 5;
inline constexpr uint32_t kWindowBind = 6;
inline constexpr uint32_t kBadResponse = 7;
inline constexpr uint32_t kLocalAccess = 8;
inline constexpr uint32_t kRemoteInvalidRequest = 9;
inline constexpr uint32_t kRemoteAccess = 10;
inline constexpr uint32_t kRemoteOperation = 11;
inline constexpr uint32_t kRetriesExceeded = 12;
inline constexpr uint32_t kRnrRetriesExceeded = 13;
inline constexpr uint32_t kRemoteAborted = 16;
inline constexpr uint32_t kGeneral = 21;
}  // namespace wc_status

namespace wc_opcode {
inline constexpr uint32_t kReceive = 1 << 7;
inline constexpr uint32_t kReceiveWriteWithImmediate = (1 << 7) + 1;
}  // namespace wc_opcode

namespace wc_flag {
inline constexpr uint32_t kGrh = 1 << 0;
inline constexpr uint32_t kWithImmediate = 1 << 1;
}  // namespace wc_flag

namespace send_flag {
inline constexpr uint32_t kFence = 1 << 0;
inline constexpr uint32_t kSignaled = 1 << 1;
inline constexpr uint32_t kSolicited = 1 << 2;
inline constexpr uint32_t kInline = 1 << 3;
}  // namespace send_flag

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_WC_STATUS_H_
