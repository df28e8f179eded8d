// The adapter's ways to memory: pages given to it (MAP_FA, MAP_ICM), memory
// protection (MPT) and translation (MTT).  As in the Linux driver (mlx4/fw.c:
// mlx4_map_cmd; mlx4/mlx4.h: mlx4_mpt_entry; mlx4/mr.c).
#ifndef IBEMU_HCA_PRM_MLX4_MEMORY_H_
#define IBEMU_HCA_PRM_MLX4_MEMORY_H_

#include <cstdint>

#include "wire/layout.h"

namespace ibemu::hca::prm {

// A chunk of memory for MAP_FA, MAP_ICM_AUX or MAP_ICM; the input modifier is
// the number of chunks.  `virtual_page` is used by MAP_ICM only.  A chunk's bus
// address is aligned to its size.
struct VirtualPhysicalMapping {
  static constexpr int kBits = 128;

  uint64_t virtual_page = 0;   // address >> 12
  uint64_t physical_page = 0;  // address >> 12
  uint8_t log2size = 0;        // in pages of 4 KiB

  static constexpr auto Layout() {
    using T = VirtualPhysicalMapping;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::virtual_page, "va", 52, 0), Reserved(12, 52),
                       Rw(&T::physical_page, "pa", 52, 64), Reserved(6, 116),
                       Rw(&T::log2size, "log2size", 6, 122));
  }
};
static_assert(wire::Tiles<VirtualPhysicalMapping>());

// The owner of an MPT, in its topmost bits.
enum class MptStatus : uint8_t {
  kHardware = 0x0,
  kFree = 0x3,
  kSoftware = 0xf
};

// The conversion between a memory key and the index of its MPT.  A key is the
// index rotated left by 8; its lowest byte, the index's highest, differs from
// one use of an MPT to the next.
constexpr uint32_t KeyOfMpt(uint32_t index) { return index << 8 | index >> 24; }
constexpr uint32_t MptOfKey(uint32_t key) { return key >> 8 | key << 24; }

// The Mpt::invalidate_enable of a key that both ends may invalidate.
inline constexpr uint8_t kInvalidateLocalAndRemote = 3;

// A memory protection table entry (SW2HW_MPT, with the index as input
// modifier).
struct Mpt {
  static constexpr int kBits = 64 * 8;

  MptStatus status = MptStatus::kHardware;
  bool mio = false;          // bit 17: always set for a region of the host
  bool bind_enable = false;  // memory windows may be bound to it
  bool atomic = false;       // remote atomic operations
  bool remote_write = false, remote_read = false;
  bool local_write = false, local_read = false;
  bool physical = false;  // no MTTs: addresses are bus addresses
  bool region = false;    // not a window
  uint32_t qpn = 0;
  uint32_t key = 0;  // MptOfKey() of the key in requests
  uint32_t pd = 0;   // protection domain
  bool remote_atomic_enable = false, fast_register_enable = false;
  uint8_t invalidate_enable = 0;
  uint64_t start = 0;   // virtual address
  uint64_t length = 0;  // 0 with `physical`: all memory
  uint32_t lkey = 0, window_count = 0;
  uint8_t mtt_rep = 0;
  uint64_t mtt_addr = 0;  // bytes from mtt_base
  uint32_t mtt_sz = 0;
  uint32_t entity_size = 0;  // log2 of the page
  uint32_t first_byte_offset = 0;

  static constexpr auto Layout() {
    using T = Mpt;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::status, "status", 4, 0), Reserved(10, 4),
        Rw(&T::mio, "mio", 1, 14), Reserved(1, 15),
        Rw(&T::bind_enable, "bind_enable", 1, 16), Rw(&T::atomic, "a", 1, 17),
        Rw(&T::remote_write, "rw", 1, 18), Rw(&T::remote_read, "rr", 1, 19),
        Rw(&T::local_write, "lw", 1, 20), Rw(&T::local_read, "lr", 1, 21),
        Rw(&T::physical, "pa", 1, 22), Rw(&T::region, "r_w", 1, 23),
        Reserved(8, 24), Rw(&T::qpn, "qpn", 32, 32),
        Rw(&T::key, "mem_key", 32, 64), Reserved(3, 96),
        Rw(&T::remote_atomic_enable, "rae", 1, 99),
        Rw(&T::fast_register_enable, "en_fre", 1, 100), Reserved(1, 101),
        Rw(&T::invalidate_enable, "en_inv", 2, 102), Rw(&T::pd, "pd", 24, 104),
        Rw(&T::start, "start_address", 64, 128), Rw(&T::length, "len", 64, 192),
        Rw(&T::lkey, "lkey", 32, 256), Rw(&T::window_count, "win_cnt", 32, 288),
        Reserved(24, 320), Rw(&T::mtt_rep, "mtt_rep", 8, 344),
        Rw(&T::mtt_addr, "mtt_addr", 64, 352),
        Rw(&T::mtt_sz, "mtt_size", 32, 416),
        Rw(&T::entity_size, "entity_size", 32, 448),
        Rw(&T::first_byte_offset, "mtt_fbo", 32, 480));
  }
};
static_assert(wire::Tiles<Mpt>());

// The translation of one page.  Software writes it into ICM itself, or uses
// WRITE_MTT.
struct MttEntry {
  static constexpr int kBits = 64;

  uint64_t page = 0;  // bus address >> 3
  bool present = false;

  static constexpr auto Layout() {
    using T = MttEntry;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::page, "ptag", 61, 0), Reserved(2, 61),
                       Rw(&T::present, "p", 1, 63));
  }
};
static_assert(wire::Tiles<MttEntry>());

// The head of WRITE_MTT's mailbox.  As many entries as the input modifier says
// follow.
struct WriteMtt {
  static constexpr int kBits = 128;

  uint64_t first = 0;  // index of the first entry

  static constexpr auto Layout() {
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&WriteMtt::first, "mtt_base_addr", 64, 0),
                       Reserved(64, 64));
  }
};
static_assert(wire::Tiles<WriteMtt>());

}  // namespace ibemu::hca::prm

#endif  // IBEMU_HCA_PRM_MLX4_MEMORY_H_
