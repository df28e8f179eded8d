#include "hca/model/mlx4/core/adapter_limits.h"

#include <string_view>

namespace ibemu::hca::model::mlx4 {

namespace {

constexpr std::string_view kBoardId = "IBE0000000001";

}  // namespace

prm::QueryFw FirmwareInfo() {
  return {.fw_pages = 1542,
          .fw_rev_major = 2,
          .fw_rev_minor = 42,
          .fw_rev_subminor = 5000,
          .cmd_interface_rev = 3,
          .log_max_outstanding_cmd = 4,
          .clr_int_base = kClearInterrupt,
          .error_buf_start = kErrorBuffer,
          .error_buf_size = kErrorBufferWords};
}

prm::QueryAdapter AdapterInfo() {
  prm::QueryAdapter info{.inta_pin = 1, .vsd_vendor_id = 0x15b3};
  for (size_t i = 0; i < kBoardId.size(); ++i) {
    // The bytes of each dword are reversed, as in the real firmware.
    info.vsd[prm::kVsdBoardId + (i ^ 3)] = static_cast<uint8_t>(kBoardId[i]);
  }
  return info;
}

prm::QueryDevCap DeviceCapabilities(int ports) {
  prm::QueryDevCap cap;
  cap.log_max_srq_sz = 14;
  cap.log_max_qp_sz = 14;
  cap.log_rsvd_qp = 6;
  cap.log_max_qp = 19;
  cap.log_rsvd_srq = 6;
  cap.log_max_srq = 16;
  cap.log_max_cq_sz = 22;
  cap.log_rsvd_cq = 7;
  cap.log_max_cq = 16;
  cap.log_max_mpt = 24;
  cap.log_rsvd_eq = 2;
  // One EQ per MSI-X vector.  If there were more, Linux's profile with few
  // queues of each kind would map the contexts of EQs (always 1,024) over those
  // of shared receive queues, unless the firmware had system EQs, which are not
  // modelled.
  cap.log_max_eq = 6;
  cap.log_rsvd_mtt = 4;
  cap.log_rsvd_mrw = 4;
  cap.log_max_mtt = 24;
  cap.log_max_req_qp = 4;
  cap.log_max_res_qp = 4;
  cap.log_max_rdma = 16;
  cap.local_ca_ack_delay = 15;
  cap.max_vl = 4;
  cap.num_ports = static_cast<uint8_t>(ports);
  cap.log_max_msg = 30;
  cap.log_max_gid = 7;
  cap.stat_rate_support = 0x7f7f;
  cap.log_max_pkey = 7;
  cap.flags = prm::kDevCapRc | prm::kDevCapUd | prm::kDevCapSrq |
              prm::kDevCapPKeyViolations | prm::kDevCapQKeyViolations |
              prm::kDevCapAtomic | prm::kDevCapUdAvPort |
              prm::kDevCapUdMulticast | prm::kDevCapUdLoopback |
              prm::kDevCapPortManagementChange;
  cap.bmme_flags = prm::kBmmeLocalInvalidate | prm::kBmmeRemoteInvalidate |
                   prm::kBmmeFastRegister;
  cap.num_rsvd_uar = 1;
  cap.log_uar_mib = 3;
  cap.log_page_sz = 12;
  cap.max_sg_sq = 62;
  cap.max_desc_sz_sq = 1008;
  cap.max_sg_rq = 32;
  cap.max_desc_sz_rq = 512;
  cap.log_max_qp_mcg = 8;
  cap.log_max_mcg = 13;
  cap.num_rsvd_pd = 4;
  cap.log_max_pd = 15;
  cap.rdmarc_entry_sz = 32;
  cap.qpc_entry_sz = 256;
  cap.aux_entry_sz = 256;
  cap.altc_entry_sz = 64;
  cap.eqc_entry_sz = 128;
  cap.cqc_entry_sz = 128;
  cap.srqc_entry_sz = 128;
  cap.c_mpt_entry_sz = 64;
  cap.mtt_entry_sz = 8;
  cap.d_mpt_entry_sz = 128;
  cap.max_icm_sz = uint64_t{1} << 40;
  return cap;
}

}  // namespace ibemu::hca::model::mlx4
