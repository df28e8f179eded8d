#include "fabric/soft_hca/hca_attributes.h"

#include <endian.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "verbs/uverbs/port_attributes.h"

namespace ibemu::fabric {
namespace {

uint64_t NetworkOrder(wire::Guid guid) {
  return htobe64(static_cast<uint64_t>(guid));
}

// Returns a firmware version such as "16.35.4030" as the ABI packs it; 0 if
// there is none, or another text.
uint64_t FirmwareCode(const mad::DeviceLabel* label) {
  if (label == nullptr) return 0;
  const std::vector<absl::string_view> parts =
      absl::StrSplit(label->firmware, '.');
  uint16_t numbers[3];
  if (parts.size() != 3) return 0;
  for (size_t i = 0; i < 3; ++i) {
    uint32_t number = 0;
    if (!absl::SimpleAtoi(parts[i], &number) || number > 0xffff) return 0;
    numbers[i] = static_cast<uint16_t>(number);
  }
  return uint64_t{numbers[0]} << 32 | uint64_t{numbers[1]} << 16 | numbers[2];
}

using topology::DeviceLimits, verbs::DeviceAttributes;

// Each limit but max_mr_size, which has 64 bits.
constexpr std::pair<uint64_t DeviceLimits::*, uint32_t DeviceAttributes::*>
    kLimitedFields[] = {
        {&DeviceLimits::max_mr, &DeviceAttributes::max_mr},
        {&DeviceLimits::max_pd, &DeviceAttributes::max_pd},
        {&DeviceLimits::max_ah, &DeviceAttributes::max_ah},
        {&DeviceLimits::max_cq, &DeviceAttributes::max_cq},
        {&DeviceLimits::max_cqe, &DeviceAttributes::max_cqe},
        {&DeviceLimits::max_qp, &DeviceAttributes::max_qp},
        {&DeviceLimits::max_qp_wr, &DeviceAttributes::max_qp_wr},
        {&DeviceLimits::max_sge, &DeviceAttributes::max_sge},
        {&DeviceLimits::max_qp_rd_atom, &DeviceAttributes::max_qp_rd_atom},
        {&DeviceLimits::max_qp_init_rd_atom,
         &DeviceAttributes::max_qp_init_rd_atom},
        {&DeviceLimits::max_srq, &DeviceAttributes::max_srq},
        {&DeviceLimits::max_srq_wr, &DeviceAttributes::max_srq_wr},
        {&DeviceLimits::max_srq_sge, &DeviceAttributes::max_srq_sge},
};

}  // namespace

topology::DeviceLimits LimitsOf(const Node& node) {
  return node.limits ? *node.limits : topology::DeviceLimits();
}

verbs::DeviceAttributes HcaAttributesOf(const Node& node,
                                        const NodePort& first_port) {
  constexpr uint32_t kAmongItself = 1;  // IB_ATOMIC_HCA
  const topology::DeviceLimits limits = LimitsOf(node);
  verbs::DeviceAttributes device{};
  device.fw_ver = FirmwareCode(node.label.get());
  device.node_guid = NetworkOrder(node.node_guid);
  device.sys_image_guid = NetworkOrder(node.system_image_guid);
  device.max_mr_size = limits.max_mr_size;
  for (const auto& [limit, field] : kLimitedFields) {
    device.*field = static_cast<uint32_t>(limits.*limit);
  }
  device.max_sge_rd = device.max_sge;
  device.page_size_cap = 4096;
  device.hw_ver = node.revision;
  device.device_cap_flags =
      IB_UVERBS_DEVICE_BAD_PKEY_CNTR | IB_UVERBS_DEVICE_BAD_QKEY_CNTR |
      IB_UVERBS_DEVICE_AUTO_PATH_MIG | IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT |
      IB_UVERBS_DEVICE_SYS_IMAGE_GUID | IB_UVERBS_DEVICE_RC_RNR_NAK_GEN |
      IB_UVERBS_DEVICE_SRQ_RESIZE;
  device.max_res_rd_atom = device.max_qp_rd_atom * device.max_qp;
  device.atomic_cap = kAmongItself;
  device.max_mcast_grp = 16384;
  device.max_mcast_qp_attach = 240;
  device.max_total_mcast_qp_attach =
      device.max_mcast_grp * device.max_mcast_qp_attach;
  device.max_pkeys = static_cast<uint16_t>(node.p_key_entries());
  device.local_ca_ack_delay = first_port.info.resp_time_value;
  device.phys_port_cnt = node.port_count;
  return device;
}

verbs::PortAttributes PortAttributesOf(const Node& node, const NodePort& port) {
  return verbs::PortAttributesOf(
      port.info, {.gids = kGuidTableEntries, .p_keys = node.p_key_entries()});
}

}  // namespace ibemu::fabric
