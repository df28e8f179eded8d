// MAD_IFC's extension, MAD_DEMUX and multicast groups.  As in the Linux driver
// (hw/mlx4/mad.c: mlx4_MAD_IFC; mlx4/fw.c: mlx4_check_smp_firewall_active;
// mlx4/mcg.c, mlx4/mlx4.h: mlx4_mgm) and the PRM.
#ifndef IBEMU_HCA_PRM_MLX4_MANAGEMENT_H_
#define IBEMU_HCA_PRM_MLX4_MANAGEMENT_H_

#include <array>
#include <cstdint>

#include "wire/layout.h"

namespace ibemu::hca::prm {

// The way a request arrived, in the input mailbox of MAD_IFC after the
// request's 256 bytes.  Valid with kMadIfcExtended.
struct MadIfcExtension {
  static constexpr int kBits = 0x68 * 8;

  uint32_t my_qpn = 0, remote_qpn = 0;
  uint8_t sl = 0;
  bool grh_valid = false;
  uint8_t path_bits = 0;
  uint16_t pkey_index = 0;
  std::array<uint8_t, 40> grh{};

  static constexpr auto Layout() {
    using T = MadIfcExtension;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Reserved(8, 0), Rw(&T::my_qpn, "my_qpn", 24, 8), Reserved(32 + 8, 32),
        Rw(&T::remote_qpn, "rqpn", 24, 72), Rw(&T::sl, "sl", 4, 96),
        Reserved(4, 100), Rw(&T::grh_valid, "g", 1, 104),
        Rw(&T::path_bits, "ml_path", 7, 105), Reserved(16, 112),
        Reserved(16, 128), Rw(&T::pkey_index, "pkey_indx", 16, 144),
        Reserved(0x160, 160), Rw(&T::grh, "grh", 40 * 8, 0x40 * 8));
  }
};
static_assert(wire::Tiles<MadIfcExtension>());

// The answer of MAD_DEMUX with kMadDemuxQueryRestrictions: for each method, a
// mask of the attributes that the host may not use.
struct MadDemuxRestrictions {
  static constexpr int kBits = 0x100 * 8;

  uint32_t set = 0, get_response = 0, trap = 0, trap_repress = 0;

  static constexpr auto Layout() {
    using T = MadDemuxRestrictions;
    using wire::Reserved, wire::Ro;
    return wire::Table(
        Reserved(0x10 * 8, 0), Ro(&T::set, "set_attr_mask", 32, 0x10 * 8),
        Reserved(0x0c * 8, 0x14 * 8),
        Ro(&T::get_response, "getresp_attr_mask", 32, 0x20 * 8),
        Reserved(0x1c * 8, 0x24 * 8),
        Ro(&T::trap, "trap_attr_mask", 32, 0x40 * 8),
        Reserved(0x2c * 8, 0x44 * 8),
        Ro(&T::trap_repress, "traprepress_attr_mask", 32, 0x70 * 8),
        Reserved(0x8c * 8, 0x74 * 8));
  }
};
static_assert(wire::Tiles<MadDemuxRestrictions>());

// A multicast group (READ_MCG, WRITE_MCG).  Its members follow, each as an
// McgMember.
struct McgHeader {
  static constexpr int kBits = 0x20 * 8;

  uint32_t next_gid_index = 0;  // the next group with the same hash; 0: none
  uint8_t protocol = 0;         // 0: InfiniBand
  uint32_t member_count = 0;
  std::array<uint8_t, 16> gid{};

  static constexpr auto Layout() {
    using T = McgHeader;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::next_gid_index, "next_gid_index", 26, 0),
                       Reserved(6, 26), Rw(&T::protocol, "prot", 2, 32),
                       Reserved(6, 34),
                       Rw(&T::member_count, "members_count", 24, 40),
                       Reserved(64, 64), Rw(&T::gid, "gid", 128, 128));
  }
};
static_assert(wire::Tiles<McgHeader>());

// A queue pair of a multicast group.  With block_loopback it does not get what
// it sends to the group itself.
struct McgMember {
  static constexpr int kBits = 32;

  bool block_loopback = false;
  uint32_t qpn = 0;

  static constexpr auto Layout() {
    using T = McgMember;
    using wire::Reserved, wire::Rw;
    return wire::Table(Reserved(1, 0), Rw(&T::block_loopback, "blck_lb", 1, 1),
                       Reserved(6, 2), Rw(&T::qpn, "qpn", 24, 8));
  }
};
static_assert(wire::Tiles<McgMember>());

}  // namespace ibemu::hca::prm

#endif  // IBEMU_HCA_PRM_MLX4_MANAGEMENT_H_
