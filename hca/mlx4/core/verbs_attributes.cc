#include "hca/mlx4/core/verbs_attributes.h"

#include <algorithm>

#include "hca/mlx4/core/icm_layout.h"

namespace ibemu::hca::mlx4 {
namespace {

// Limits of what ibemu has use for.  Each queue pair has a completion queue of
// the adapter, and all of these and the shared receive queues may make events
// at once: the event queue has room for that.
constexpr uint32_t kQps = 1024;
constexpr uint32_t kSrqs = 512;
constexpr uint32_t kLogRequests = 12;  // of a queue
constexpr uint32_t kPieces = 32;       // of a request
constexpr uint32_t kCqEntries = (1u << 17) - 1;
constexpr uint32_t kCqs = 65536;  // implemented by the driver
constexpr uint32_t kKeys = 65536;
constexpr uint32_t kPds = 32768;
constexpr uint32_t kAhs = 65535;

// Firmware's fields have room for logarithms that no adapter has.
uint32_t PowerOf(uint32_t log) { return 1u << std::min(log, 31u); }

}  // namespace

verbs::DeviceAttributes DeviceAttributesOf(const FirmwareClient& firmware) {
  const prm::QueryDevCap& caps = firmware.caps();
  const prm::QueryFw& fw = firmware.fw();
  verbs::DeviceAttributes device{};
  device.fw_ver = uint64_t{fw.fw_rev_major} << 32 |
                  uint64_t{fw.fw_rev_minor} << 16 | fw.fw_rev_subminor;
  device.max_mr_size = ~uint64_t{0};
  device.page_size_cap = ~(PowerOf(caps.log_page_sz) - 1);
  device.max_qp = kQps;
  device.max_qp_wr =
      PowerOf(std::min<uint32_t>(caps.log_max_qp_sz, kLogRequests)) - 1;
  device.device_cap_flags = IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT |
                            IB_UVERBS_DEVICE_SYS_IMAGE_GUID |
                            IB_UVERBS_DEVICE_RC_RNR_NAK_GEN;
  if ((caps.flags & prm::kDevCapPKeyViolations) != 0) {
    device.device_cap_flags |= IB_UVERBS_DEVICE_BAD_PKEY_CNTR;
  }
  if ((caps.flags & prm::kDevCapQKeyViolations) != 0) {
    device.device_cap_flags |= IB_UVERBS_DEVICE_BAD_QKEY_CNTR;
  }
  device.max_sge = kPieces;
  device.max_sge_rd = kPieces;
  device.max_cq = kCqs;
  device.max_cqe = kCqEntries;
  device.max_mr = kKeys;
  device.max_pd = kPds;
  device.max_qp_rd_atom =
      PowerOf(std::min<uint32_t>(caps.log_max_res_qp, kLogRdmaReads));
  device.max_qp_init_rd_atom = PowerOf(caps.log_max_req_qp);
  device.max_res_rd_atom = device.max_qp_rd_atom * device.max_qp;
  // Peers find no memory here for atomic operations.
  constexpr uint32_t kNone = 0;  // IB_ATOMIC_NONE
  device.atomic_cap = kNone;
  const IcmRegion& groups = firmware.layout()[IcmTable::kMulticast];
  device.max_mcast_grp = static_cast<uint32_t>(groups.entries() / 2);
  device.max_mcast_qp_attach = std::min(PowerOf(caps.log_max_qp_mcg),
                                        PowerOf(kLogMulticastEntry) / 4 - 8);
  device.max_total_mcast_qp_attach =
      device.max_mcast_grp * device.max_mcast_qp_attach;
  device.max_ah = kAhs;
  device.max_srq = kSrqs;
  device.max_srq_wr =
      PowerOf(std::min<uint32_t>(caps.log_max_srq_sz, kLogRequests)) - 1;
  device.max_srq_sge = kPieces;
  device.max_pkeys =
      static_cast<uint16_t>(PowerOf(firmware.port(1).log_max_pkey));
  device.local_ca_ack_delay = caps.local_ca_ack_delay;
  device.phys_port_cnt = caps.num_ports;
  return device;
}

}  // namespace ibemu::hca::mlx4
