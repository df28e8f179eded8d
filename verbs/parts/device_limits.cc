#include "verbs/parts/device_limits.h"

#include <initializer_list>
#include <string_view>

#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/status_macros.h"

namespace ibemu::verbs {
namespace {

namespace attribute = qp_attribute;

constexpr uint32_t kMtuCode256 = 1, kMtuCode4096 = 5;
constexpr uint32_t kMaxQpn = 0xffffff;
constexpr uint8_t kTimerBits = 31, kRetryBits = 7, kMaxServiceLevel = 15;
constexpr uint16_t kFirstMulticastLid = 0xc000;

// A field of a request, by its name in libibverbs, and what it may be.  An
// index of an empty table may be 0 to -1: nothing.
struct Range {
  std::string_view name;
  int64_t value, least, most;
};

absl::Status CheckRanges(std::initializer_list<Range> ranges) {
  for (const Range& range : ranges) {
    if (range.value >= range.least && range.value <= range.most) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("%s is %d: there may be %d to %d", Absl(range.name),
                        range.value, range.least, range.most));
  }
  return absl::OkStatus();
}

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
  if (attributes.alt_port_num != attributes.alt_ah_attr.port_num) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "alt_port_num is %d, port_num of alt_ah_attr %d: they must be equal",
        attributes.alt_port_num, attributes.alt_ah_attr.port_num));
  }
  return CheckRanges({
      {"alt_port_num", attributes.alt_port_num, 1, device.phys_port_cnt},
      {"alt_pkey_index", attributes.alt_pkey_index, 0, device.max_pkeys - 1},
      {"alt_timeout", attributes.alt_timeout, 0, kTimerBits},
  });
}

}  // namespace

absl::Status CheckCqSize(const DeviceAttributes& device, uint32_t size) {
  return CheckRanges({{"cqe", size, 1, device.max_cqe}});
}

absl::Status CheckSrq(const DeviceAttributes& device,
                      const SrqAttributes& attributes) {
  return CheckRanges({
      {"max_wr", attributes.max_requests, 1, device.max_srq_wr},
      {"max_sge", attributes.max_sges, 1, device.max_srq_sge},
      {"srq_limit", attributes.limit, 0, attributes.max_requests},
  });
}

absl::Status CheckCapacity(const DeviceAttributes& device,
                           const QpCapacity& capacity, uint32_t most_inline) {
  return CheckRanges({
      {"max_send_wr", capacity.send_requests, 0, device.max_qp_wr},
      {"max_recv_wr", capacity.receive_requests, 0, device.max_qp_wr},
      {"max_send_sge", capacity.send_sges, 0, device.max_sge},
      {"max_recv_sge", capacity.receive_sges, 0, device.max_sge},
      {"max_inline_data", capacity.inline_bytes, 0, most_inline},
  });
}

absl::Status CheckAddress(const DeviceAttributes& device, int gids,
                          const AddressAttributes& address) {
  IBEMU_RETURN_IF_ERROR(CheckRanges({
      {"port_num", address.port_num, 1, device.phys_port_cnt},
      {"sl", address.sl, 0, kMaxServiceLevel},
      {"dlid", address.dlid, 1, UINT16_MAX},
  }));
  if (address.is_global == 0) return absl::OkStatus();
  return CheckRanges({{"sgid_index", address.grh.sgid_index, 0, gids - 1}});
}

absl::Status CheckQpAttributes(const DeviceAttributes& device, int gids,
                               const QpAttributes& attributes) {
  const auto has = [&attributes](uint32_t bit) {
    return (attributes.qp_attr_mask & bit) != 0;
  };
  const struct {
    uint32_t bit;
    Range range;
  } fields[] = {
      {attribute::kPort,
       {"port_num", attributes.port_num, 1, device.phys_port_cnt}},
      {attribute::kPKeyIndex,
       {"pkey_index", attributes.pkey_index, 0, device.max_pkeys - 1}},
      {attribute::kDestinationQp,
       {"dest_qp_num", attributes.dest_qp_num, 0, kMaxQpn}},
      {attribute::kPathMtu,
       {"path_mtu", attributes.path_mtu, kMtuCode256, kMtuCode4096}},
      {attribute::kMaxReads,
       {"max_rd_atomic", attributes.max_rd_atomic, 0,
        device.max_qp_init_rd_atom}},
      {attribute::kMaxReadsHere,
       {"max_dest_rd_atomic", attributes.max_dest_rd_atomic, 0,
        device.max_qp_rd_atom}},
      {attribute::kMinRnrTimer,
       {"min_rnr_timer", attributes.min_rnr_timer, 0, kTimerBits}},
      {attribute::kTimeout, {"timeout", attributes.timeout, 0, kTimerBits}},
      {attribute::kRetryCount,
       {"retry_cnt", attributes.retry_cnt, 0, kRetryBits}},
      {attribute::kRnrRetry,
       {"rnr_retry", attributes.rnr_retry, 0, kRetryBits}},
  };
  for (const auto& [bit, range] : fields) {
    if (has(bit)) IBEMU_RETURN_IF_ERROR(CheckRanges({range}));
  }
  if (has(attribute::kAddress)) {
    IBEMU_RETURN_IF_ERROR(CheckPeer(device, gids, attributes.ah_attr));
  }
  if (has(attribute::kAlternatePath)) {
    IBEMU_RETURN_IF_ERROR(CheckAlternatePath(device, gids, attributes));
  }
  return absl::OkStatus();
}

}  // namespace ibemu::verbs
