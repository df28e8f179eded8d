#include "verbs/parts/device_limits.h"

#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace ibemu::verbs {
namespace {

namespace attribute = qp_attribute;

constexpr uint32_t kMtuCode256 = 1, kMtuCode4096 = 5;
constexpr uint32_t kMaxQpn = 0xffffff;
constexpr uint8_t kTimerBits = 31;
constexpr uint16_t kFirstMulticastLid = 0xc000;

// Checks the address of a connection's peer, which is a single port.
absl::Status CheckPeer(const DeviceAttributes& device, int gids,
                       const AddressAttributes& address) {
  IBEMU_RETURN_IF_ERROR(CheckAddress(device, gids, address));
  if (address.dlid >= kFirstMulticastLid) {
    return absl::InvalidArgumentError("a connection with a multicast LID");
  }
  return absl::OkStatus();
}

absl::Status CheckAlternatePath(const DeviceAttributes& device, int gids,
                                const QpAttributes& attributes) {
  IBEMU_RETURN_IF_ERROR(CheckPeer(device, gids, attributes.alt_ah_attr));
  if (attributes.alt_port_num == 0 ||
      attributes.alt_port_num > device.phys_port_cnt ||
      attributes.alt_pkey_index >= device.max_pkeys ||
      attributes.alt_timeout > kTimerBits) {
    return absl::InvalidArgumentError(
        "no such port, P_Key or timeout of the alternate path");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckCqSize(const DeviceAttributes& device, uint32_t size) {
  if (size != 0 && size <= device.max_cqe) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%d entries: there may be 1 to %d", size, device.max_cqe));
}

absl::Status CheckSrq(const DeviceAttributes& device,
                      const SrqAttributes& attributes) {
  if (attributes.max_requests != 0 &&
      attributes.max_requests <= device.max_srq_wr &&
      attributes.max_sges != 0 && attributes.max_sges <= device.max_srq_sge &&
      attributes.limit <= attributes.max_requests) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("not a size that it can have");
}

absl::Status CheckCapacity(const DeviceAttributes& device,
                           const QpCapacity& capacity, uint32_t most_inline) {
  if (capacity.send_requests <= device.max_qp_wr &&
      capacity.receive_requests <= device.max_qp_wr &&
      capacity.send_sges <= device.max_sge &&
      capacity.receive_sges <= device.max_sge &&
      capacity.inline_bytes <= most_inline) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("larger than the device can have it");
}

absl::Status CheckAddress(const DeviceAttributes& device, int gids,
                          const AddressAttributes& address) {
  constexpr uint8_t kServiceLevels = 16;
  if (address.port_num == 0 || address.port_num > device.phys_port_cnt ||
      address.sl >= kServiceLevels || address.dlid == 0 ||
      (address.is_global != 0 && address.grh.sgid_index >= gids)) {
    return absl::InvalidArgumentError("no such port, LID, SL or GID");
  }
  return absl::OkStatus();
}

absl::Status CheckQpAttributes(const DeviceAttributes& device, int gids,
                               const QpAttributes& attributes) {
  const auto has = [&attributes](uint32_t bit) {
    return (attributes.qp_attr_mask & bit) != 0;
  };
  if (has(attribute::kPort) && (attributes.port_num == 0 ||
                                attributes.port_num > device.phys_port_cnt)) {
    return absl::InvalidArgumentError("no such port");
  }
  if (has(attribute::kPKeyIndex) && attributes.pkey_index >= device.max_pkeys) {
    return absl::InvalidArgumentError("beyond the P_Key table");
  }
  if (has(attribute::kAddress)) {
    IBEMU_RETURN_IF_ERROR(CheckPeer(device, gids, attributes.ah_attr));
  }
  if (has(attribute::kAlternatePath)) {
    IBEMU_RETURN_IF_ERROR(CheckAlternatePath(device, gids, attributes));
  }
  if (has(attribute::kDestinationQp) && attributes.dest_qp_num > kMaxQpn) {
    return absl::InvalidArgumentError("a queue pair number has 24 bits");
  }
  if (has(attribute::kPathMtu) && (attributes.path_mtu < kMtuCode256 ||
                                   attributes.path_mtu > kMtuCode4096)) {
    return absl::InvalidArgumentError("not an MTU");
  }
  if ((has(attribute::kMaxReads) &&
       attributes.max_rd_atomic > device.max_qp_init_rd_atom) ||
      (has(attribute::kMaxReadsHere) &&
       attributes.max_dest_rd_atomic > device.max_qp_rd_atom)) {
    return absl::InvalidArgumentError("more reads than the device has");
  }
  constexpr uint8_t kRetryBits = 7;
  if ((has(attribute::kMinRnrTimer) && attributes.min_rnr_timer > kTimerBits) ||
      (has(attribute::kTimeout) && attributes.timeout > kTimerBits) ||
      (has(attribute::kRetryCount) && attributes.retry_cnt > kRetryBits) ||
      (has(attribute::kRnrRetry) && attributes.rnr_retry > kRetryBits)) {
    return absl::InvalidArgumentError("a timer or count has too many bits");
  }
  return absl::OkStatus();
}

}  // namespace ibemu::verbs
