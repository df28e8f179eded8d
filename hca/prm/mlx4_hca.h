// INIT_HCA and QUERY_HCA: the places of the adapter's tables in ICM.  Offsets
// as in the Linux driver (mlx4/fw.c).
#ifndef IBEMU_HCA_PRM_MLX4_HCA_H_
#define IBEMU_HCA_PRM_MLX4_HCA_H_

#include <cstdint>

#include "wire/layout.h"

namespace ibemu::hca::prm {

// The base address and size of a table in one word: the base is aligned to 32
// bytes, and the log of the number of entries is in the bits below.
inline constexpr uint64_t kTableLogMask = 0x1f;
constexpr uint64_t TableWord(uint64_t base, int log_entries) {
  return base | static_cast<uint64_t>(log_entries);
}
constexpr uint64_t TableBase(uint64_t word) { return word & ~kTableLogMask; }
constexpr int TableLog(uint64_t word) {
  return static_cast<int>(word & kTableLogMask);
}
// Returns the log of the number of RDMA READs for each queue pair, from the low
// three bits of `rdmarc`.
constexpr int RdmarcLog(uint64_t word) { return static_cast<int>(word & 7); }

// The cMPTs of each kind of object begin 2^kCmptShift entries after those of
// the kind before (mlx4/mlx4.h: MLX4_CMPT_SHIFT).
inline constexpr int kCmptShift = 24;
enum class CmptType : uint8_t { kQp = 0, kSrq = 1, kCq = 2, kEq = 3 };

// Bytes 0x10 to 0x1ff of the mailboxes of INIT_HCA and QUERY_HCA.
struct HcaTables {
  static constexpr int kBits = 0x1f0 * 8;

  bool device_steering = false;  // dmfs: the device steers multicast
  bool counters = false, ipoib_checksum = false, qos = false;
  bool big_endian = false;     // of the host
  bool check_ud_port = false;  // check the port of a datagram's address vector
  bool recoverable_error_event = false;
  uint64_t qpc = 0, srqc = 0, cqc = 0, eqc = 0;  // TableWord()
  bool cqe_64 = false, eqe_64 = false;           // entries of 64 bytes
  uint8_t eqe_cqe_stride = 0;
  uint64_t altc_base = 0, auxc_base = 0;  // with as many entries as qpc
  uint16_t num_sys_eqs = 0;
  uint64_t rdmarc = 0;  // base, and RdmarcLog()
  uint64_t mc_base = 0;
  uint8_t log_mc_entry_sz = 0, log_mc_hash_sz = 0, log_mc_table_sz = 0;
  bool unicast_steering = false;
  uint64_t dmpt_base = 0, mtt_base = 0, cmpt_base = 0;
  bool memory_windows = false;
  uint8_t log_dmpt_sz = 0;
  uint8_t log_max_uars = 0;
  uint8_t uar_page_sz = 0;  // log, in units of 4 KiB

  static constexpr int At(int byte) { return (byte - 0x10) * 8; }
  static constexpr auto Layout() {
    using T = HcaTables;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Reserved(32 + 25, At(0x10)),
        Rw(&T::device_steering, "dmfs", 1, At(0x14) + 25),
        Reserved(1, At(0x14) + 26),
        Rw(&T::counters, "counters", 1, At(0x14) + 27),
        Rw(&T::ipoib_checksum, "ipoib_csum", 1, At(0x14) + 28),
        Rw(&T::qos, "qos", 1, At(0x14) + 29),
        Rw(&T::big_endian, "host_endianness", 1, At(0x14) + 30),
        Rw(&T::check_ud_port, "udav_port_chk", 1, At(0x14) + 31),
        Rw(&T::recoverable_error_event, "ree", 1, At(0x18)),
        Reserved(0x18 * 8 - 1, At(0x18) + 1),
        Rw(&T::qpc, "qpc_base_addr, log_num_of_qp", 64, At(0x30)),
        Reserved(0x10 * 8, At(0x38)),
        Rw(&T::srqc, "srqc_base_addr, log_num_of_srq", 64, At(0x48)),
        Rw(&T::cqc, "cqc_base_addr, log_num_of_cq", 64, At(0x50)),
        Reserved(1, At(0x58)), Rw(&T::cqe_64, "cqe_64", 1, At(0x58) + 1),
        Rw(&T::eqe_64, "eqe_64", 1, At(0x58) + 2), Reserved(21, At(0x58) + 3),
        Rw(&T::eqe_cqe_stride, "eqe_cqe_stride", 8, At(0x5b)),
        Reserved(32, At(0x5c)),
        Rw(&T::altc_base, "altc_base_addr", 64, At(0x60)),
        Reserved(64, At(0x68)),
        Rw(&T::auxc_base, "auxc_base_addr", 64, At(0x70)),
        Reserved(64, At(0x78)),
        Rw(&T::eqc, "eqc_base_addr, log_num_of_eq", 64, At(0x80)),
        Reserved(20, At(0x88)),
        Rw(&T::num_sys_eqs, "num_sys_eqs", 12, At(0x8a) + 4),
        Reserved(32, At(0x8c)),
        Rw(&T::rdmarc, "rdmardc_base_addr, log_num_rd", 64, At(0x90)),
        Reserved(0x28 * 8, At(0x98)),
        Rw(&T::mc_base, "mc_base_addr", 64, At(0xc0)),
        Reserved(80 + 11, At(0xc8)),
        Rw(&T::log_mc_entry_sz, "log_mc_table_entry_sz", 5, At(0xd3) + 3),
        Reserved(27, At(0xd4)),
        Rw(&T::log_mc_hash_sz, "log_mc_table_hash_sz", 5, At(0xd7) + 3),
        Reserved(4, At(0xd8)),
        Rw(&T::unicast_steering, "uc_group_steering", 1, At(0xd8) + 4),
        Reserved(22, At(0xd8) + 5),
        Rw(&T::log_mc_table_sz, "log_mc_table_sz", 5, At(0xdb) + 3),
        Reserved(0x14 * 8, At(0xdc)),
        Rw(&T::dmpt_base, "dmpt_base_adr", 64, At(0xf0)),
        Rw(&T::memory_windows, "mw_enabled", 1, At(0xf8)),
        Reserved(25, At(0xf8) + 1),
        Rw(&T::log_dmpt_sz, "log_dmpt_sz", 6, At(0xfb) + 2),
        Reserved(32, At(0xfc)),
        Rw(&T::mtt_base, "mtt_base_addr", 64, At(0x100)),
        Rw(&T::cmpt_base, "cmpt_base_adr", 64, At(0x108)),
        Reserved(0x1a * 8 + 4, At(0x110)),
        Rw(&T::log_max_uars, "log_max_uars", 4, At(0x12a) + 4),
        Rw(&T::uar_page_sz, "uar_page_sz", 8, At(0x12b)),
        Reserved((0x200 - 0x12c) * 8, At(0x12c)));
  }
};
static_assert(wire::Tiles<HcaTables>());

// The mailbox of INIT_HCA.
struct InitHca {
  static constexpr int kBits = 0x200 * 8;
  static constexpr uint8_t kVersion = 2;

  uint8_t version = kVersion;
  uint8_t cacheline = 0;  // (log2 of the bytes - 4) << 5 | valid << 4
  HcaTables tables;

  static constexpr auto Layout() {
    using T = InitHca;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::version, "version", 8, 0), Reserved(0x0d * 8, 0x01 * 8),
        Rw(&T::cacheline, "cacheline_sz", 8, 0x0e * 8), Reserved(8, 0x0f * 8),
        Rw(&T::tables, "tables", 0x1f0 * 8, 0x10 * 8));
  }
};
static_assert(wire::Tiles<InitHca>());

// The answer of QUERY_HCA.
struct QueryHca {
  static constexpr int kBits = 0x200 * 8;

  uint32_t global_caps = 0;
  uint32_t core_clock = 0;  // MHz
  HcaTables tables;

  static constexpr auto Layout() {
    using T = QueryHca;
    using wire::Reserved, wire::Ro;
    return wire::Table(Reserved(32, 0),
                       Ro(&T::global_caps, "global_caps", 32, 0x04 * 8),
                       Reserved(32, 0x08 * 8),
                       Ro(&T::core_clock, "hca_core_clock", 32, 0x0c * 8),
                       Ro(&T::tables, "tables", 0x1f0 * 8, 0x10 * 8));
  }
};
static_assert(wire::Tiles<QueryHca>());

}  // namespace ibemu::hca::prm

#endif  // IBEMU_HCA_PRM_MLX4_HCA_H_
