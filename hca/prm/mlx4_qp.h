// Contexts of queue pairs and shared receive queues.  As in the Linux driver
// (include/linux/mlx4/qp.h, mlx4/mlx4.h: mlx4_srq_context) and the PRM.
#ifndef IBEMU_HCA_PRM_MLX4_QP_H_
#define IBEMU_HCA_PRM_MLX4_QP_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/layout.h"

namespace ibemu::hca::prm {

// The state in a QpContext (mlx4_qp_state).
enum class QpContextState : uint8_t {
  kReset = 0,
  kInit = 1,
  kRtr = 2,
  kRts = 3,
  kSqError = 4,
  kSqDrained = 5,
  kError = 6,
  kSqDraining = 7,
};

enum class QpService : uint8_t { kRc = 0, kUc = 1, kUd = 3, kMlx = 7 };

inline constexpr uint8_t kPathMigrated = 3;

// Bits of the dword before the context, in all transitions but RST2INIT: the
// optional components to take.
enum QpOptional : uint32_t {
  kOptAlternatePath = 1u << 0,
  kOptRemoteRead = 1u << 1,
  kOptRemoteAtomic = 1u << 2,
  kOptRemoteWrite = 1u << 3,
  kOptPKeyIndex = 1u << 4,
  kOptQKey = 1u << 5,
  kOptRnrTimeout = 1u << 6,
  kOptPrimaryPath = 1u << 7,
  kOptSraMax = 1u << 8,
  kOptRraMax = 1u << 9,
  kOptMigrationState = 1u << 10,
  kOptRetryCount = 1u << 12,
  kOptRnrRetry = 1u << 13,
  kOptAckTimeout = 1u << 14,
  kOptSchedQueue = 1u << 16,
};
// The offset of the context in the mailbox, in bytes.
inline constexpr size_t kQpContextInMailbox = 8;
// The offset in the context of the byte with the receive queue's size and
// stride.
inline constexpr size_t kQpReceiveQueueByte = 9;
// Bit of RTS2SQD's input modifier: an event tells when the queue is drained.
inline constexpr uint32_t kSqdEvent = 1u << 31;

// Value of AddressPath::counter_index.
inline constexpr uint8_t kNoCounter = 0xff;

// A path to the peer of a queue pair (mlx4_qp_path), without what Ethernet has
// in it.
struct AddressPath {
  static constexpr int kBits = 0x2c * 8;

  uint8_t pkey_index = 0;
  uint8_t counter_index = 0;  // kNoCounter: none
  bool grh = false;
  uint8_t my_lid_path_bits = 0;
  uint16_t rlid = 0;
  uint8_t ack_timeout = 0;  // 4.096 us << ack_timeout; 0: no timeout
  uint8_t mgid_index = 0;
  uint8_t max_stat_rate = 0;
  uint8_t hop_limit = 0;
  uint8_t tclass = 0;
  uint32_t flow_label = 0;
  std::array<uint8_t, 16> rgid{};
  uint8_t sched_queue = 0;  // bit 6: port - 1, bits 5:2: SL

  static constexpr auto Layout() {
    using T = AddressPath;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Reserved(25, 0), Rw(&T::pkey_index, "pkey_index", 7, 25),
        Rw(&T::counter_index, "counter_index", 8, 32),
        Rw(&T::grh, "grh", 1, 40),
        Rw(&T::my_lid_path_bits, "my_lid_smac_idx", 7, 41),
        Rw(&T::rlid, "rlid", 16, 48), Rw(&T::ack_timeout, "ack_timeout", 5, 64),
        Reserved(4, 69), Rw(&T::mgid_index, "mgid_index", 7, 73),
        Reserved(4, 80), Rw(&T::max_stat_rate, "max_stat_rate", 4, 84),
        Rw(&T::hop_limit, "hop_limit", 8, 88), Reserved(4, 96),
        Rw(&T::tclass, "tclass", 8, 100),
        Rw(&T::flow_label, "flow_label", 20, 108),
        Rw(&T::rgid, "rgid", 128, 128),
        Rw(&T::sched_queue, "sched_queue", 8, 256), Reserved(88, 264));
  }
};
static_assert(wire::Tiles<AddressPath>());
constexpr uint8_t SchedQueue(int port, int sl) {
  return static_cast<uint8_t>(0x83 | (port - 1) << 6 | sl << 2);
}
constexpr int PortOfSchedQueue(uint8_t queue) { return (queue >> 6 & 1) + 1; }
constexpr int SlOfSchedQueue(uint8_t queue) { return queue >> 2 & 0xf; }

// The context of a queue pair (mlx4_qp_context), in the mailbox of the commands
// that change its state and of QUERY_QP.
struct QpContext {
  static constexpr int kBits = 0xf8 * 8;

  QpContextState state = QpContextState::kReset;
  QpService service = QpService::kRc;
  uint8_t pm_state = 0;
  uint32_t pd = 0;
  uint8_t mtu = 0;                             // PortInfo's code
  uint8_t log_msg_max = 0;                     // bytes
  uint8_t log_rq_size = 0, log_rq_stride = 0;  // WQEs; 16 bytes << stride
  uint8_t log_sq_size = 0, log_sq_stride = 0;
  bool reserved_lkey = false;
  uint32_t usr_page = 0;  // UAR page of its doorbells
  uint32_t local_qpn = 0, remote_qpn = 0;
  AddressPath primary, alternate;
  uint8_t ack_request_freq = 0;  // log, packets
  uint8_t log_sra_max = 0;       // RDMA READs that it may have outstanding
  uint8_t retry_count = 0, rnr_retry = 0;  // rnr_retry 7: no limit
  bool fast_register = false;
  uint8_t current_rnr_retry = 0, current_retry = 0;
  uint32_t next_send_psn = 0;
  uint32_t cqn_send = 0;
  uint32_t last_acked_psn = 0;
  uint32_t ssn = 0;
  uint8_t log_rra_max = 0;  // RDMA READs that it may answer
  bool remote_read = false, remote_write = false, remote_atomic = false;
  uint8_t page_offset = 0;  // of the buffer in its page, in units of 64 bytes
  bool invalid_credits = false;
  uint8_t min_rnr_nak = 0;  // AETH's code
  uint32_t next_receive_psn = 0;
  uint16_t xrcd = 0;
  uint32_t cqn_receive = 0;
  uint64_t db_record_addr = 0;  // bus address of the RQ's counter (16 bits)
  uint32_t qkey = 0;
  bool srq = false;
  uint32_t srqn = 0;
  uint32_t msn = 0;
  uint16_t rq_wqe_counter = 0, sq_wqe_counter = 0;
  uint8_t log_page_size = 0;   // in units of 4 KiB
  uint64_t mtt_base_addr = 0;  // 40 bits, bytes from mtt_base

  static constexpr auto Layout() {
    using T = QpContext;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::state, "state", 4, 0), Reserved(8, 4),
        Rw(&T::service, "st", 4, 12), Reserved(3, 16),
        Rw(&T::pm_state, "pm_state", 2, 19), Reserved(11, 21), Reserved(8, 32),
        Rw(&T::pd, "pd", 24, 40), Rw(&T::mtu, "mtu", 3, 64),
        Rw(&T::log_msg_max, "msg_max", 5, 67), Reserved(1, 72),
        Rw(&T::log_rq_size, "log_rq_size", 4, 73),
        Rw(&T::log_rq_stride, "log_rq_stride", 3, 77), Reserved(1, 80),
        Rw(&T::log_sq_size, "log_sq_size", 4, 81),
        Rw(&T::log_sq_stride, "log_sq_stride", 3, 85), Reserved(3, 88),
        Rw(&T::reserved_lkey, "rlky", 1, 91), Reserved(4, 92), Reserved(8, 96),
        Rw(&T::usr_page, "usr_page", 24, 104), Reserved(8, 128),
        Rw(&T::local_qpn, "local_qpn", 24, 136), Reserved(8, 160),
        Rw(&T::remote_qpn, "remote_qpn", 24, 168),
        Rw(&T::primary, "primary_address_path", 0x2c * 8, 0x18 * 8),
        Rw(&T::alternate, "alternative_address_path", 0x2c * 8, 0x44 * 8),
        Rw(&T::ack_request_freq, "ack_req_freq", 4, 0x70 * 8),
        Reserved(4, 0x70 * 8 + 4), Rw(&T::log_sra_max, "sra_max", 3, 0x71 * 8),
        Reserved(2, 0x71 * 8 + 3),
        Rw(&T::retry_count, "retry_count", 3, 0x71 * 8 + 5),
        Rw(&T::rnr_retry, "rnr_retry", 3, 0x72 * 8), Reserved(1, 0x72 * 8 + 3),
        Rw(&T::fast_register, "fre", 1, 0x72 * 8 + 4),
        Rw(&T::current_rnr_retry, "cur_rnr_retry", 3, 0x72 * 8 + 5),
        Rw(&T::current_retry, "cur_retry_cnt", 3, 0x73 * 8),
        Reserved(5, 0x73 * 8 + 3), Reserved(32 + 8, 0x74 * 8),
        Rw(&T::next_send_psn, "next_send_psn", 24, 0x79 * 8),
        Reserved(8, 0x7c * 8), Rw(&T::cqn_send, "cqn_snd", 24, 0x7d * 8),
        Reserved(64 + 8, 0x80 * 8),
        Rw(&T::last_acked_psn, "last_acked_psn", 24, 0x89 * 8),
        Reserved(8, 0x8c * 8), Rw(&T::ssn, "ssn", 24, 0x8d * 8),
        Reserved(8, 0x90 * 8), Rw(&T::log_rra_max, "rra_max", 3, 0x91 * 8),
        Reserved(5, 0x91 * 8 + 3), Rw(&T::remote_read, "rre", 1, 0x92 * 8),
        Rw(&T::remote_write, "rwe", 1, 0x92 * 8 + 1),
        Rw(&T::remote_atomic, "rae", 1, 0x92 * 8 + 2),
        Reserved(1, 0x92 * 8 + 3),
        Rw(&T::page_offset, "page_offset", 6, 0x92 * 8 + 4),
        Reserved(1, 0x93 * 8 + 2),
        Rw(&T::invalid_credits, "ric", 1, 0x93 * 8 + 3),
        Reserved(4, 0x93 * 8 + 4), Reserved(3, 0x94 * 8),
        Rw(&T::min_rnr_nak, "min_rnr_nak", 5, 0x94 * 8 + 3),
        Rw(&T::next_receive_psn, "next_rcv_psn", 24, 0x95 * 8),
        Reserved(16, 0x98 * 8), Rw(&T::xrcd, "srcd", 16, 0x9a * 8),
        Reserved(8, 0x9c * 8), Rw(&T::cqn_receive, "cqn_rcv", 24, 0x9d * 8),
        Rw(&T::db_record_addr, "db_record_addr", 64, 0xa0 * 8),
        Rw(&T::qkey, "q_key", 32, 0xa8 * 8), Reserved(7, 0xac * 8),
        Rw(&T::srq, "srq", 1, 0xac * 8 + 7), Rw(&T::srqn, "srqn", 24, 0xad * 8),
        Reserved(8, 0xb0 * 8), Rw(&T::msn, "rmsn", 24, 0xb1 * 8),
        Rw(&T::rq_wqe_counter, "rq_wqe_counter", 16, 0xb4 * 8),
        Rw(&T::sq_wqe_counter, "sq_wqe_counter", 16, 0xb6 * 8),
        Reserved(0x10 * 8, 0xb8 * 8), Reserved(2, 0xc8 * 8),
        Rw(&T::log_page_size, "log2_page_size", 6, 0xc8 * 8 + 2),
        Reserved(16, 0xc9 * 8),
        Rw(&T::mtt_base_addr, "mtt_base_addr", 40, 0xcb * 8),
        Reserved(0x28 * 8, 0xd0 * 8));
  }
};
static_assert(wire::Tiles<QpContext>());

// The context of a shared receive queue (SW2HW_SRQ).
struct SrqContext {
  static constexpr int kBits = 0x30 * 8;

  uint8_t state = 0;
  uint8_t log_srq_size = 0;
  uint32_t srqn = 0;
  uint8_t log_stride = 0;  // 16 bytes << log_stride
  uint16_t xrcd = 0;
  uint8_t page_offset = 0;  // in units of 64 bytes
  uint32_t cqn = 0;         // of an XRC SRQ
  uint8_t log_page_size = 0;
  uint64_t mtt_base_addr = 0;
  uint32_t pd = 0;
  uint16_t limit_watermark = 0, wqe_count = 0, wqe_counter = 0;
  uint64_t db_record_addr = 0;

  static constexpr auto Layout() {
    using T = SrqContext;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::state, "state", 4, 0),
        Rw(&T::log_srq_size, "log_srq_size", 4, 4), Rw(&T::srqn, "srqn", 24, 8),
        Reserved(5, 32), Rw(&T::log_stride, "log_rq_stride", 3, 37),
        Reserved(8, 40), Rw(&T::xrcd, "srcd", 16, 48),
        Rw(&T::page_offset, "page_offset", 6, 64), Reserved(2, 70),
        Rw(&T::cqn, "cqn", 24, 72), Reserved(32, 96), Reserved(2, 128),
        Rw(&T::log_page_size, "log2_page_size", 6, 130), Reserved(16, 136),
        Rw(&T::mtt_base_addr, "mtt_base_addr", 40, 152), Reserved(8, 192),
        Rw(&T::pd, "pd", 24, 200), Rw(&T::limit_watermark, "lwm", 16, 224),
        Rw(&T::wqe_count, "wqe_cnt", 16, 240), Reserved(16, 256),
        Rw(&T::wqe_counter, "srq_wqe_counter", 16, 272), Reserved(32, 288),
        Rw(&T::db_record_addr, "db_record_addr", 64, 320));
  }
};
static_assert(wire::Tiles<SrqContext>());

}  // namespace ibemu::hca::prm

#endif  // IBEMU_HCA_PRM_MLX4_QP_H_
