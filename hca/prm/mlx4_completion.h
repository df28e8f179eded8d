// Completion queues: context, entries, doorbell.  As in the Linux driver
// (mlx4/mlx4.h, cq.c; include/linux/mlx4/cq.h) and the PRM.
#ifndef IBEMU_HCA_PRM_MLX4_COMPLETION_H_
#define IBEMU_HCA_PRM_MLX4_COMPLETION_H_

#include <cstdint>

#include "wire/layout.h"

namespace ibemu::hca::prm {

// Values of CqContext::state.
inline constexpr uint8_t kCqDisarmed = 0;
inline constexpr uint8_t kCqArmedSolicited = 6;
inline constexpr uint8_t kCqArmed = 9;
inline constexpr uint8_t kCqFired = 10;

// The context of a completion queue (SW2HW_CQ).
struct CqContext {
  static constexpr int kBits = 64 * 8;

  uint8_t status = 0;  // kQueueOk ... (mlx4_events.h)
  bool timestamp = false;
  bool collapsed = false;       // cc: every completion into entry 0
  bool ignore_overrun = false;  // oi
  uint8_t state = 0;
  uint8_t page_offset = 0;  // of entry 0 in its page, in units of 32 bytes
  uint8_t log_cq_size = 0;  // entries
  uint32_t usr_page = 0;    // UAR page of its doorbells
  uint16_t cq_period = 0;   // microseconds
  uint16_t cq_max_count = 0;
  uint16_t comp_eqn = 0;
  uint8_t log_page_size = 0;   // in units of 4 KiB
  uint64_t mtt_base_addr = 0;  // 40 bits, bytes from mtt_base
  uint32_t last_notified_index = 0, solicit_producer_index = 0;
  uint32_t consumer_index = 0, producer_index = 0;
  uint64_t db_record_addr = 0;  // bus address: CqDoorbellRecord

  static constexpr auto Layout() {
    using T = CqContext;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::status, "status", 4, 0), Reserved(8, 4),
        Rw(&T::timestamp, "timestamp", 1, 12), Rw(&T::collapsed, "cc", 1, 13),
        Rw(&T::ignore_overrun, "oi", 1, 14), Reserved(5, 15),
        Rw(&T::state, "st", 4, 20), Reserved(8, 24), Reserved(52, 32),
        Rw(&T::page_offset, "page_offset", 7, 84), Reserved(5 + 3, 91),
        Rw(&T::log_cq_size, "log_cq_size", 5, 99),
        Rw(&T::usr_page, "usr_page", 24, 104),
        Rw(&T::cq_period, "cq_period", 16, 0x10 * 8),
        Rw(&T::cq_max_count, "cq_max_count", 16, 0x12 * 8),
        Reserved(23, 0x14 * 8), Rw(&T::comp_eqn, "c_eqn", 9, 0x16 * 8 + 7),
        Reserved(2, 0x18 * 8),
        Rw(&T::log_page_size, "log_page_size", 6, 0x18 * 8 + 2),
        Reserved(16, 0x19 * 8),
        Rw(&T::mtt_base_addr, "mtt_base_addr", 40, 0x1b * 8),
        Reserved(8, 0x20 * 8),
        Rw(&T::last_notified_index, "last_notified_indx", 24, 0x21 * 8),
        Reserved(8, 0x24 * 8),
        Rw(&T::solicit_producer_index, "solicit_producer_indx", 24, 0x25 * 8),
        Reserved(8, 0x28 * 8),
        Rw(&T::consumer_index, "consumer_counter", 24, 0x29 * 8),
        Reserved(8, 0x2c * 8),
        Rw(&T::producer_index, "producer_counter", 24, 0x2d * 8),
        Reserved(64, 0x30 * 8),
        Rw(&T::db_record_addr, "db_record_addr", 64, 0x38 * 8));
  }
};
static_assert(wire::Tiles<CqContext>());

// The doorbell record in memory, at db_record_addr: how far software has read,
// and how it has armed the queue.
struct CqDoorbellRecord {
  static constexpr int kBits = 64;

  uint32_t consumer_index = 0;
  uint8_t arm_sequence = 0, arm_command = 0;
  uint32_t arm_index = 0;

  static constexpr auto Layout() {
    using T = CqDoorbellRecord;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Reserved(8, 0), Rw(&T::consumer_index, "update_ci", 24, 8),
        Reserved(2, 32), Rw(&T::arm_sequence, "cmd_sn", 2, 34), Reserved(1, 36),
        Rw(&T::arm_command, "cmd", 3, 37), Rw(&T::arm_index, "arm_ci", 24, 40));
  }
};
static_assert(wire::Tiles<CqDoorbellRecord>());

// Values of CqDoorbell::command and CqDoorbellRecord::arm_command.
inline constexpr uint8_t kCqArmSolicitedOnly = 1;
inline constexpr uint8_t kCqArmNext = 2;

// The doorbell at kCqDoorbell, by which software asks for the next event of a
// completion queue.  The sequence number increases by one with each event; an
// older one marks a repetition.
struct CqDoorbell {
  static constexpr int kBits = 64;

  uint8_t sequence = 0;
  uint8_t command = 0;
  uint32_t cqn = 0;
  uint32_t consumer_index = 0;

  static constexpr auto Layout() {
    using T = CqDoorbell;
    using wire::Reserved, wire::Rw;
    return wire::Table(Reserved(2, 0), Rw(&T::sequence, "cmd_sn", 2, 2),
                       Reserved(1, 4), Rw(&T::command, "cmd", 3, 5),
                       Rw(&T::cqn, "cqn", 24, 8), Reserved(8, 32),
                       Rw(&T::consumer_index, "cq_param", 24, 40));
  }
};
static_assert(wire::Tiles<CqDoorbell>());

// Values of Cqe::opcode for a receive; for a send it is the WQE's opcode.
inline constexpr uint8_t kReceivedRdmaWriteImmediate = 0x00;
inline constexpr uint8_t kReceivedSend = 0x01;
inline constexpr uint8_t kReceivedSendImmediate = 0x02;
inline constexpr uint8_t kReceivedSendInvalidate = 0x03;
inline constexpr uint8_t kCqeError = 0x1e;  // the entry is an ErrorCqe

// A completion queue entry.  Software owns entry n of a queue of 2^k entries if
// `owner` is bit k of n.
struct Cqe {
  static constexpr int kBits = 32 * 8;

  uint32_t qpn = 0;
  uint32_t immediate = 0;  // or the key that was invalidated
  bool grh = false;
  uint8_t path_bits = 0;  // of the receiving LID
  uint32_t remote_qpn = 0;
  uint8_t sl = 0;
  uint16_t remote_lid = 0;
  uint16_t status = 0;
  uint32_t byte_count = 0;  // including 40 for the GRH of a datagram
  uint16_t wqe_counter = 0;
  uint16_t checksum = 0;
  bool owner = false;
  bool is_send = false;
  uint8_t opcode = 0;

  static constexpr auto Layout() {
    using T = Cqe;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Reserved(8, 0), Rw(&T::qpn, "qpn", 24, 8),
        Rw(&T::immediate, "immediate", 32, 32), Rw(&T::grh, "g", 1, 64),
        Rw(&T::path_bits, "ml_path", 7, 65), Rw(&T::remote_qpn, "rqpn", 24, 72),
        Rw(&T::sl, "sl", 4, 96), Reserved(12, 100),
        Rw(&T::remote_lid, "rlid", 16, 112), Rw(&T::status, "status", 16, 128),
        Reserved(16, 144), Rw(&T::byte_count, "byte_cnt", 32, 160),
        Rw(&T::wqe_counter, "wqe_counter", 16, 192),
        Rw(&T::checksum, "checksum", 16, 208), Reserved(24, 224),
        Rw(&T::owner, "owner", 1, 248), Rw(&T::is_send, "s_r", 1, 249),
        Reserved(1, 250), Rw(&T::opcode, "opcode", 5, 251));
  }
};
static_assert(wire::Tiles<Cqe>());

// The reason why a work request failed (MLX4_CQE_SYNDROME_*).
enum class CqeSyndrome : uint8_t {
  kNone = 0x00,
  kLocalLength = 0x01,
  kLocalQpOperation = 0x02,
  kLocalProtection = 0x04,
  kFlushed = 0x05,
  kWindowBind = 0x06,
  kBadResponse = 0x10,
  kLocalAccess = 0x11,
  kRemoteInvalidRequest = 0x12,
  kRemoteAccess = 0x13,
  kRemoteOperation = 0x14,
  kTransportRetryExceeded = 0x15,
  kRnrRetryExceeded = 0x16,
  kRemoteAborted = 0x22,
};

// A Cqe whose opcode is kCqeError.
struct ErrorCqe {
  static constexpr int kBits = 32 * 8;

  uint32_t qpn = 0;
  uint16_t wqe_counter = 0;
  uint8_t vendor_syndrome = 0;
  CqeSyndrome syndrome = CqeSyndrome::kNone;
  bool owner = false;
  bool is_send = false;
  uint8_t opcode = kCqeError;

  static constexpr auto Layout() {
    using T = ErrorCqe;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Reserved(8, 0), Rw(&T::qpn, "qpn", 24, 8), Reserved(160, 32),
        Rw(&T::wqe_counter, "wqe_counter", 16, 192),
        Rw(&T::vendor_syndrome, "vendor_error_syndrome", 8, 208),
        Rw(&T::syndrome, "syndrome", 8, 216), Reserved(24, 224),
        Rw(&T::owner, "owner", 1, 248), Rw(&T::is_send, "s_r", 1, 249),
        Reserved(1, 250), Rw(&T::opcode, "opcode", 5, 251));
  }
};
static_assert(wire::Tiles<ErrorCqe>());

}  // namespace ibemu::hca::prm

#endif  // IBEMU_HCA_PRM_MLX4_COMPLETION_H_
