// Work queue entries: the segments of 16 bytes (and more) that form them.  As
// in the Linux driver (include/linux/mlx4/qp.h, hw/mlx4/qp.c).
//
// A send WQE is a control segment, then a datagram segment (UD), a remote
// address segment (RDMA) and an atomic segment where its opcode needs them,
// then data segments, which are pointers or inline.  A receive WQE has pointers
// only; one with kInvalidLKey and no bytes ends it.
#ifndef IBEMU_HCA_PRM_MLX4_WQE_H_
#define IBEMU_HCA_PRM_MLX4_WQE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/layout.h"

namespace ibemu::hca::prm {

// The opcode of a send WQE (MLX4_OPCODE_*).
enum class WqeOpcode : uint8_t {
  kNop = 0x00,
  kSendInvalidate = 0x01,
  kRdmaWrite = 0x08,
  kRdmaWriteImmediate = 0x09,
  kSend = 0x0a,
  kSendImmediate = 0x0b,
  kLargeSend = 0x0e,
  kRdmaRead = 0x10,
  kCompareSwap = 0x11,
  kFetchAdd = 0x12,
  kMaskedCompareSwap = 0x14,
  kMaskedFetchAdd = 0x15,
  kBindWindow = 0x18,
  kFastRegister = 0x19,
  kLocalInvalidate = 0x1b,
};

// The first segment of a send WQE.  `owner` is bit k of the WQE's number in a
// queue of 2^k entries; the number is a running count.
struct ControlSegment {
  static constexpr int kBits = 128;

  bool owner = false;
  bool no_error_completion = false;
  WqeOpcode opcode = WqeOpcode::kNop;
  bool fence = false;
  uint8_t size = 0;  // of the whole WQE, in units of 16 bytes
  bool strong_order = false;
  bool tcp_udp_checksum = false, ip_checksum = false;
  uint8_t completion = 0;  // 3: make a CQE
  bool solicited = false;
  bool force_loopback = false;
  uint32_t immediate = 0;  // or the key that the peer invalidates

  static constexpr auto Layout() {
    using T = ControlSegment;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::owner, "owner", 1, 0), Reserved(1, 1),
        Rw(&T::no_error_completion, "nec", 1, 2), Reserved(24, 3),
        Rw(&T::opcode, "opcode", 5, 27), Reserved(25, 32),
        Rw(&T::fence, "f", 1, 57), Rw(&T::size, "ds", 6, 58), Reserved(24, 64),
        Rw(&T::strong_order, "so", 1, 88), Reserved(1, 89),
        Rw(&T::tcp_udp_checksum, "tcp_udp", 1, 90),
        Rw(&T::ip_checksum, "ip", 1, 91), Rw(&T::completion, "c", 2, 92),
        Rw(&T::solicited, "s", 1, 94), Rw(&T::force_loopback, "fl", 1, 95),
        Rw(&T::immediate, "immediate", 32, 96));
  }
};
static_assert(wire::Tiles<ControlSegment>());
inline constexpr uint8_t kCompletionRequested = 3;

// The control segment of queue pairs 0 and 1.  Software builds the headers LRH
// to DETH itself, as inline data, and leaves the last four bytes for the ICRC.
struct MlxSegment {
  static constexpr int kBits = 128;

  bool owner = false;
  bool no_error_completion = false;
  WqeOpcode opcode = WqeOpcode::kNop;  // kSend
  bool fence = false;
  uint8_t size = 0;  // as in ControlSegment
  bool vl15 = false;
  bool source_lid_given = false;  // slr; otherwise the LRH gets the port's LID
  uint8_t max_stat_rate = 0;
  uint8_t sl = 0;
  bool icrc_given = false;
  uint8_t completion = 0;
  bool solicited = false;
  bool force_loopback = false;
  uint16_t rlid = 0;

  static constexpr auto Layout() {
    using T = MlxSegment;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::owner, "owner", 1, 0), Reserved(1, 1),
        Rw(&T::no_error_completion, "nec", 1, 2), Reserved(24, 3),
        Rw(&T::opcode, "opcode", 5, 27), Reserved(25, 32),
        Rw(&T::fence, "f", 1, 57), Rw(&T::size, "ds", 6, 58), Reserved(14, 64),
        Rw(&T::vl15, "v15", 1, 78), Rw(&T::source_lid_given, "slr", 1, 79),
        Rw(&T::max_stat_rate, "max_statrate", 4, 80), Rw(&T::sl, "sl", 4, 84),
        Reserved(3, 88), Rw(&T::icrc_given, "icrc", 1, 91),
        Rw(&T::completion, "c", 2, 92), Rw(&T::solicited, "s", 1, 94),
        Rw(&T::force_loopback, "fl", 1, 95), Rw(&T::rlid, "rlid", 16, 96),
        Reserved(16, 112));
  }
};
static_assert(wire::Tiles<MlxSegment>());

// The destination of a datagram.
struct Mlx4Av {
  static constexpr int kBits = 256;

  bool force_loopback = false;
  uint8_t port = 0;
  uint32_t pd = 0;
  bool grh = false;
  uint8_t my_lid_path_bits = 0;
  uint16_t rlid = 0;
  uint8_t mgid_index = 0;  // index of the source GID
  uint8_t max_stat_rate = 0;
  uint8_t hop_limit = 0;
  uint8_t sl = 0;
  uint8_t tclass = 0;
  uint32_t flow_label = 0;
  std::array<uint8_t, 16> rgid{};

  static constexpr auto Layout() {
    using T = Mlx4Av;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::force_loopback, "fl", 1, 0), Reserved(5, 1),
        Rw(&T::port, "port_number", 2, 6), Rw(&T::pd, "pd", 24, 8),
        Reserved(8, 32), Rw(&T::grh, "g", 1, 40),
        Rw(&T::my_lid_path_bits, "my_lid_path_bits", 7, 41),
        Rw(&T::rlid, "rlid", 16, 48), Reserved(9, 64),
        Rw(&T::mgid_index, "mgid_index", 7, 73), Reserved(4, 80),
        Rw(&T::max_stat_rate, "max_stat_rate", 4, 84),
        Rw(&T::hop_limit, "hop_limit", 8, 88), Rw(&T::sl, "sl", 4, 96),
        Rw(&T::tclass, "tclass", 8, 100),
        Rw(&T::flow_label, "flow_label", 20, 108),
        Rw(&T::rgid, "rgid", 128, 128));
  }
};
static_assert(wire::Tiles<Mlx4Av>());

// The destination of a UD message (mlx4_wqe_datagram_seg).
struct DatagramSegment {
  static constexpr int kBits = 384;

  Mlx4Av address;
  uint32_t remote_qpn = 0;
  uint32_t qkey = 0;  // highest bit set: use the context's

  static constexpr auto Layout() {
    using T = DatagramSegment;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::address, "ud_address_vector", 256, 0),
                       Reserved(8, 256),
                       Rw(&T::remote_qpn, "destination_qp", 24, 264),
                       Rw(&T::qkey, "q_key", 32, 288), Reserved(64, 320));
  }
};
static_assert(wire::Tiles<DatagramSegment>());

// The peer's memory of an RDMA or atomic operation (mlx4_wqe_raddr_seg).
struct RemoteAddressSegment {
  static constexpr int kBits = 128;

  uint64_t address = 0;
  uint32_t rkey = 0;

  static constexpr auto Layout() {
    using T = RemoteAddressSegment;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::address, "remote_virt_addr", 64, 0),
                       Rw(&T::rkey, "rkey", 32, 64), Reserved(32, 96));
  }
};
static_assert(wire::Tiles<RemoteAddressSegment>());

// The operands of an atomic operation (mlx4_wqe_atomic_seg): fetch-and-add has
// no `compare`.
struct AtomicSegment {
  static constexpr int kBits = 128;

  uint64_t swap_add = 0;
  uint64_t compare = 0;

  static constexpr auto Layout() {
    using T = AtomicSegment;
    return wire::Table(wire::Rw(&T::swap_add, "swap_add", 64, 0),
                       wire::Rw(&T::compare, "compare", 64, 64));
  }
};
static_assert(wire::Tiles<AtomicSegment>());

// A pointer to memory.  A byte_count of 0 stands for 2^31 bytes.
struct DataSegment {
  static constexpr int kBits = 128;

  bool is_inline = false;  // then the segment is an InlineSegment
  uint32_t byte_count = 0;
  uint32_t lkey = 0;
  uint64_t address = 0;

  static constexpr auto Layout() {
    using T = DataSegment;
    using wire::Rw;
    return wire::Table(Rw(&T::is_inline, "inline", 1, 0),
                       Rw(&T::byte_count, "byte_count", 31, 1),
                       Rw(&T::lkey, "l_key", 32, 32),
                       Rw(&T::address, "local_address", 64, 64));
  }
};
static_assert(wire::Tiles<DataSegment>());
inline constexpr uint32_t kInvalidLKey = 0x100;

// The head of inline data.  The data follows immediately, and the next segment
// begins at the next multiple of 16 bytes.  No inline segment crosses a 64-byte
// boundary.
struct InlineSegment {
  static constexpr int kBits = 32;

  bool is_inline = true;
  uint32_t byte_count = 0;

  static constexpr auto Layout() {
    using T = InlineSegment;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::is_inline, "inline", 1, 0), Reserved(21, 1),
                       Rw(&T::byte_count, "byte_count", 10, 22));
  }
};
static_assert(wire::Tiles<InlineSegment>());
inline constexpr size_t kInlineBoundary = 64;

// The head of a shared receive queue's WQE, before its pointers: the queue is a
// linked list.
struct NextSegment {
  static constexpr int kBits = 128;

  uint16_t next_wqe_index = 0;

  static constexpr auto Layout() {
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Reserved(16, 0),
        Rw(&NextSegment::next_wqe_index, "next_wqe_index", 16, 16),
        Reserved(96, 32));
  }
};
static_assert(wire::Tiles<NextSegment>());

// The second segment of FAST_REGISTER (mlx4_wqe_fmr_seg): what the key opens.
struct FastRegisterSegment {
  static constexpr int kBits = 48 * 8;

  bool local_read = false, local_write = false;
  bool remote_read = false, remote_write = false, atomic = false;
  uint32_t key = 0;
  uint64_t page_list = 0;  // bus address of the entries, each an MttEntry
  uint64_t start = 0;
  uint64_t length = 0;
  uint32_t offset = 0;
  uint32_t log_page_size = 0;

  static constexpr auto Layout() {
    using T = FastRegisterSegment;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::atomic, "a", 1, 0), Rw(&T::remote_write, "rw", 1, 1),
        Rw(&T::remote_read, "rr", 1, 2), Rw(&T::local_write, "lw", 1, 3),
        Rw(&T::local_read, "lr", 1, 4), Reserved(27, 5),
        Rw(&T::key, "mem_key", 32, 32), Rw(&T::page_list, "pbl_ptr", 64, 64),
        Rw(&T::start, "start_address", 64, 128),
        Rw(&T::length, "reg_len", 64, 192), Rw(&T::offset, "offset", 32, 256),
        Rw(&T::log_page_size, "page_size", 32, 288), Reserved(64, 320));
  }
};
static_assert(wire::Tiles<FastRegisterSegment>());

// The second segment of LOCAL_INVALIDATE (mlx4_wqe_local_inval_seg).
struct LocalInvalidateSegment {
  static constexpr int kBits = 256;

  uint32_t key = 0;

  static constexpr auto Layout() {
    using wire::Reserved, wire::Rw;
    return wire::Table(Reserved(64, 0),
                       Rw(&LocalInvalidateSegment::key, "mem_key", 32, 64),
                       Reserved(160, 96));
  }
};
static_assert(wire::Tiles<LocalInvalidateSegment>());

}  // namespace ibemu::hca::prm

#endif  // IBEMU_HCA_PRM_MLX4_WQE_H_
