// QUERY_DEV_CAP: the adapter's capabilities and limits.  Offsets as the Linux
// driver reads them (mlx4/fw.c).
#ifndef IBEMU_HCA_PRM_MLX4_DEV_CAP_H_
#define IBEMU_HCA_PRM_MLX4_DEV_CAP_H_

#include <cstdint>

#include "wire/layout.h"

namespace ibemu::hca::prm {

// Bits of QueryDevCap::flags (include/linux/mlx4/device.h).
enum DevCapFlag : uint64_t {
  kDevCapRc = uint64_t{1} << 0,
  kDevCapUc = uint64_t{1} << 1,
  kDevCapUd = uint64_t{1} << 2,
  kDevCapSrq = uint64_t{1} << 6,
  kDevCapPKeyViolations = uint64_t{1} << 8,
  kDevCapQKeyViolations = uint64_t{1} << 9,
  kDevCapAtomic = uint64_t{1} << 18,
  kDevCapUdAvPort = uint64_t{1} << 20,
  kDevCapUdMulticast = uint64_t{1} << 21,
  kDevCapUdLoopback = uint64_t{1} << 32,
  kDevCapPortManagementChange = uint64_t{1} << 59,
  kDevCap64ByteEqe = uint64_t{1} << 61,
  kDevCap64ByteCqe = uint64_t{1} << 62,
};

// Bits of QueryDevCap::bmme_flags, the base memory management extensions.
enum BmmeFlag : uint32_t {
  kBmmeLocalInvalidate = 1u << 6,
  kBmmeRemoteInvalidate = 1u << 7,
  kBmmeType2Window = 1u << 9,
  kBmmeReservedLKey = 1u << 10,
  kBmmeFastRegister = 1u << 11,
};

// The answer of QUERY_DEV_CAP.  A member with "log" in its name is the binary
// logarithm of a number.  A member with "rsvd" is the number of objects that
// belong to firmware; they are the first of their kind.
struct QueryDevCap {
  static constexpr int kBits = 0x100 * 8;

  uint8_t log_max_srq_sz = 0;  // WQEs of a shared receive queue
  uint8_t log_max_qp_sz = 0;   // WQEs of a queue
  uint8_t log_rsvd_qp = 0;     // queue pairs that firmware keeps
  uint8_t log_max_qp = 0;
  uint8_t log_rsvd_srq = 0;
  uint8_t log_max_srq = 0;
  uint8_t log_max_cq_sz = 0;  // CQEs of a queue
  uint8_t log_rsvd_cq = 0;
  uint8_t log_max_cq = 0;
  uint8_t log_max_mpt = 0;
  uint8_t log_rsvd_eq = 0;
  uint8_t log_max_eq = 0;
  uint8_t log_rsvd_mtt = 0;  // segments
  uint8_t log_rsvd_mrw = 0;  // MPTs that firmware keeps
  uint8_t log_max_mtt = 0;   // segments
  uint16_t num_sys_eq = 0;
  uint8_t log_max_req_qp =
      0;  // RDMA READs that a queue pair may have outstanding
  uint8_t log_max_res_qp = 0;  // RDMA READs that it may answer
  uint8_t log_max_gso = 0;
  uint8_t log_max_rss = 0;
  uint8_t log_max_rdma = 0;
  bool resize_srq = false;
  uint8_t local_ca_ack_delay = 0;  // in the specification's code
  uint8_t max_vl = 0;
  uint8_t num_ports = 0;
  uint8_t log_max_msg = 0;  // bytes
  uint8_t log_max_gid = 0;
  uint16_t stat_rate_support = 0;
  uint8_t log_max_pkey = 0;
  uint64_t flags = 0;        // DevCapFlag
  uint8_t num_rsvd_uar = 0;  // UAR pages
  uint8_t log_uar_mib = 0;   // MiB of BAR 2
  uint8_t log_page_sz = 0;   // the smallest page of an MTT
  bool blue_flame = false;
  uint8_t log_bf_reg_sz = 0;
  uint8_t log_max_bf_regs_per_page = 0;
  uint8_t max_sg_sq = 0;
  uint16_t max_desc_sz_sq = 0;  // bytes
  uint8_t max_sg_rq = 0;
  uint16_t max_desc_sz_rq = 0;  // bytes
  uint8_t log_max_qp_mcg = 0;   // queue pairs of a multicast group
  uint8_t num_rsvd_mcg = 0;
  uint8_t log_max_mcg = 0;
  uint8_t num_rsvd_pd = 0;
  uint8_t log_max_pd = 0;
  uint8_t num_rsvd_xrcd = 0;
  uint8_t log_max_xrcd = 0;
  uint32_t ext_2_flags = 0;
  uint16_t rdmarc_entry_sz = 0;  // bytes of ICM per entry, like all *_entry_sz
  uint16_t qpc_entry_sz = 0;
  uint16_t aux_entry_sz = 0;
  uint16_t altc_entry_sz = 0;
  uint16_t eqc_entry_sz = 0;
  uint16_t cqc_entry_sz = 0;
  uint16_t srqc_entry_sz = 0;
  uint16_t c_mpt_entry_sz = 0;
  uint16_t mtt_entry_sz = 0;
  uint16_t d_mpt_entry_sz = 0;
  uint32_t bmme_flags = 0;  // BmmeFlag
  uint32_t rsvd_lkey = 0;
  uint32_t ext_3_flags = 0;
  uint64_t max_icm_sz = 0;  // bytes
  bool mad_demux = false;   // firmware supports MAD_DEMUX

  static constexpr auto Layout() {
    using T = QueryDevCap;
    using wire::Reserved, wire::Ro;
    return wire::Table(
        Reserved(128, 0), Ro(&T::log_max_srq_sz, "log_max_srq_sz", 8, 0x10 * 8),
        Ro(&T::log_max_qp_sz, "log_max_qp_sz", 8, 0x11 * 8), Reserved(4, 144),
        Ro(&T::log_rsvd_qp, "log_rsvd_qp", 4, 0x12 * 8 + 4), Reserved(3, 152),
        Ro(&T::log_max_qp, "log_max_qp", 5, 0x13 * 8 + 3),
        Ro(&T::log_rsvd_srq, "log_rsvd_srq", 4, 0x14 * 8), Reserved(7, 164),
        Ro(&T::log_max_srq, "log_max_srq", 5, 0x15 * 8 + 3), Reserved(24, 176),
        Ro(&T::log_max_cq_sz, "log_max_cq_sz", 8, 0x19 * 8), Reserved(4, 208),
        Ro(&T::log_rsvd_cq, "log_rsvd_cq", 4, 0x1a * 8 + 4), Reserved(3, 216),
        Ro(&T::log_max_cq, "log_max_cq", 5, 0x1b * 8 + 3), Reserved(10, 224),
        Ro(&T::log_max_mpt, "log_max_mpt", 6, 0x1d * 8 + 2), Reserved(4, 240),
        Ro(&T::log_rsvd_eq, "log_rsvd_eq", 4, 0x1e * 8 + 4), Reserved(4, 248),
        Ro(&T::log_max_eq, "log_max_eq", 4, 0x1f * 8 + 4),
        Ro(&T::log_rsvd_mtt, "log_rsvd_mtt", 4, 0x20 * 8), Reserved(16, 260),
        Ro(&T::log_rsvd_mrw, "log_rsvd_mrw", 4, 0x22 * 8 + 4), Reserved(2, 280),
        Ro(&T::log_max_mtt, "log_max_mtt", 6, 0x23 * 8 + 2), Reserved(20, 288),
        Ro(&T::num_sys_eq, "num_sys_eq", 12, 0x26 * 8 + 4), Reserved(10, 320),
        Ro(&T::log_max_req_qp, "log_max_req_qp", 6, 0x29 * 8 + 2),
        Reserved(10, 336),
        Ro(&T::log_max_res_qp, "log_max_res_qp", 6, 0x2b * 8 + 2),
        Reserved(11, 352), Ro(&T::log_max_gso, "log_max_gso", 5, 0x2d * 8 + 3),
        Reserved(4, 368), Ro(&T::log_max_rss, "log_max_rss", 4, 0x2e * 8 + 4),
        Reserved(2, 376), Ro(&T::log_max_rdma, "log_max_rdma", 6, 0x2f * 8 + 2),
        Reserved(31, 384), Ro(&T::resize_srq, "resize_srq", 1, 0x33 * 8 + 7),
        Reserved(11, 416),
        Ro(&T::local_ca_ack_delay, "local_ca_ack_delay", 5, 0x35 * 8 + 3),
        Reserved(8, 432), Ro(&T::max_vl, "max_vl", 4, 0x37 * 8),
        Ro(&T::num_ports, "num_ports", 4, 0x37 * 8 + 4), Reserved(3, 448),
        Ro(&T::log_max_msg, "log_max_msg", 5, 0x38 * 8 + 3), Reserved(20, 456),
        Ro(&T::log_max_gid, "log_max_gid", 4, 0x3b * 8 + 4),
        Ro(&T::stat_rate_support, "stat_rate_support", 16, 0x3c * 8),
        Reserved(12, 496),
        Ro(&T::log_max_pkey, "log_max_pkey", 4, 0x3f * 8 + 4),
        Ro(&T::flags, "flags", 64, 0x40 * 8),
        Ro(&T::num_rsvd_uar, "num_rsvd_uar", 4, 0x48 * 8), Reserved(6, 580),
        Ro(&T::log_uar_mib, "log_uar_mib", 6, 0x49 * 8 + 2), Reserved(8, 592),
        Ro(&T::log_page_sz, "log_page_sz", 8, 0x4b * 8),
        Ro(&T::blue_flame, "blue_flame", 1, 0x4c * 8), Reserved(10, 609),
        Ro(&T::log_bf_reg_sz, "log_bf_reg_sz", 5, 0x4d * 8 + 3),
        Reserved(2, 624),
        Ro(&T::log_max_bf_regs_per_page, "log_max_bf_regs_per_page", 6,
           0x4e * 8 + 2),
        Reserved(16, 632), Ro(&T::max_sg_sq, "max_sg_sq", 8, 0x51 * 8),
        Ro(&T::max_desc_sz_sq, "max_desc_sz_sq", 16, 0x52 * 8),
        Reserved(8, 672), Ro(&T::max_sg_rq, "max_sg_rq", 8, 0x55 * 8),
        Ro(&T::max_desc_sz_rq, "max_desc_sz_rq", 16, 0x56 * 8),
        Reserved(72, 704),
        Ro(&T::log_max_qp_mcg, "log_max_qp_mcg", 8, 0x61 * 8), Reserved(4, 784),
        Ro(&T::num_rsvd_mcg, "num_rsvd_mcg", 4, 0x62 * 8 + 4),
        Ro(&T::log_max_mcg, "log_max_mcg", 8, 0x63 * 8),
        Ro(&T::num_rsvd_pd, "num_rsvd_pd", 4, 0x64 * 8), Reserved(6, 804),
        Ro(&T::log_max_pd, "log_max_pd", 6, 0x65 * 8 + 2),
        Ro(&T::num_rsvd_xrcd, "num_rsvd_xrcd", 4, 0x66 * 8), Reserved(7, 820),
        Ro(&T::log_max_xrcd, "log_max_xrcd", 5, 0x67 * 8 + 3),
        Reserved(64, 832), Ro(&T::ext_2_flags, "ext_2_flags", 32, 0x70 * 8),
        Reserved(96, 928),
        Ro(&T::rdmarc_entry_sz, "rdmarc_entry_sz", 16, 0x80 * 8),
        Ro(&T::qpc_entry_sz, "qpc_entry_sz", 16, 0x82 * 8),
        Ro(&T::aux_entry_sz, "aux_entry_sz", 16, 0x84 * 8),
        Ro(&T::altc_entry_sz, "altc_entry_sz", 16, 0x86 * 8),
        Ro(&T::eqc_entry_sz, "eqc_entry_sz", 16, 0x88 * 8),
        Ro(&T::cqc_entry_sz, "cqc_entry_sz", 16, 0x8a * 8),
        Ro(&T::srqc_entry_sz, "srqc_entry_sz", 16, 0x8c * 8),
        Ro(&T::c_mpt_entry_sz, "c_mpt_entry_sz", 16, 0x8e * 8),
        Ro(&T::mtt_entry_sz, "mtt_entry_sz", 16, 0x90 * 8),
        Ro(&T::d_mpt_entry_sz, "d_mpt_entry_sz", 16, 0x92 * 8),
        Ro(&T::bmme_flags, "bmme_flags", 32, 0x94 * 8),
        Ro(&T::rsvd_lkey, "rsvd_lkey", 32, 0x98 * 8),
        Ro(&T::ext_3_flags, "ext_3_flags", 32, 0x9c * 8),
        Ro(&T::max_icm_sz, "max_icm_sz", 64, 0xa0 * 8), Reserved(95, 1344),
        Ro(&T::mad_demux, "mad_demux", 1, 0xb3 * 8 + 7), Reserved(608, 1440));
  }
};
static_assert(wire::Tiles<QueryDevCap>());

}  // namespace ibemu::hca::prm

#endif  // IBEMU_HCA_PRM_MLX4_DEV_CAP_H_
