// Numbers of work completions: enum ib_wc_status, ib_wc_opcode, ib_wc_flags and
// ib_send_flags of the Linux kernel.
#ifndef IBEMU_VERBS_WC_STATUS_H_
#define IBEMU_VERBS_WC_STATUS_H_

#include <cstdint>
#include <iterator>
#include <string_view>

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

// Returns the name without IBV_WC_, "RETRY_EXC_ERR"; "?" for other numbers.
constexpr std::string_view NameOf(uint32_t status) {
  constexpr std::string_view kNames[] = {
      "SUCCESS",           "LOC_LEN_ERR",
      "LOC_QP_OP_ERR",     "LOC_EEC_OP_ERR",
      "LOC_PROT_ERR",      "WR_FLUSH_ERR",
      "MW_BIND_ERR",       "BAD_RESP_ERR",
      "LOC_ACCESS_ERR",    "REM_INV_REQ_ERR",
      "REM_ACCESS_ERR",    "REM_OP_ERR",
      "RETRY_EXC_ERR",     "RNR_RETRY_EXC_ERR",
      "LOC_RDD_VIOL_ERR",  "REM_INV_RD_REQ_ERR",
      "REM_ABORT_ERR",     "INV_EECN_ERR",
      "INV_EEC_STATE_ERR", "FATAL_ERR",
      "RESP_TIMEOUT_ERR",  "GENERAL_ERR"};
  return status < std::size(kNames) ? kNames[status] : "?";
}
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
