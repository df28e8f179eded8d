#include "hca/mlx4/core/qp_context.h"

#include <algorithm>
#include <bit>
#include <span>

#include "hca/mlx4/core/verbs_attributes.h"

namespace ibemu::hca::mlx4 {
namespace {

constexpr uint8_t kLongestMtu = 5;
constexpr uint8_t kLogDatagram = 13;  // bytes, as in Linux
// The log of the packets between requests for an acknowledgement, as in Linux.
constexpr uint8_t kLogAckInterval = 8;

// Converts the specification's code of a rate to the adapter's.  The adapter's
// codes begin later, except that 0 stands for the port's own rate in both, and
// end at 15.  A code that the adapter does not have is replaced by the next
// lower one that it has (hw/mlx4/qp.c, _mlx4_set_path).
uint8_t RateOf(uint8_t rate, uint16_t supported) {
  constexpr int kFirst = 5;
  constexpr int kSlowest = kFirst + 2;  // 2.5 Gbit/s
  constexpr int kLast = 15;
  if (rate == 0) return 0;
  int code = std::min(rate + kFirst, kLast);
  while (code > kSlowest && (supported >> code & 1) == 0) --code;
  return static_cast<uint8_t>(code);
}

prm::QpService ServiceOf(verbs::QpType type) {
  switch (type) {
    case verbs::QpType::kRc:
      return prm::QpService::kRc;
    case verbs::QpType::kUc:
      return prm::QpService::kUc;
    default:
      return prm::QpService::kUd;
  }
}

// Returns the binary logarithm, rounded up.
uint8_t LogReads(uint32_t count) {
  return static_cast<uint8_t>(count == 0 ? 0 : std::bit_width(count - 1));
}

void SetPath(const verbs::AddressAttributes& to, uint16_t rates,
             prm::AddressPath& path) {
  path.grh = to.is_global != 0;
  path.my_lid_path_bits = to.src_path_bits & 0x7f;
  path.rlid = to.dlid;
  path.max_stat_rate = RateOf(to.static_rate, rates);
  if (path.grh) {
    path.mgid_index = to.grh.sgid_index;
    path.hop_limit = to.grh.hop_limit;
    path.tclass = to.grh.traffic_class;
    path.flow_label = to.grh.flow_label & 0xfffff;
    std::ranges::copy(to.grh.dgid, path.rgid.begin());
  }
}

}  // namespace

prm::Mlx4Av AddressVectorOf(const verbs::AddressAttributes& address,
                            uint16_t rates) {
  prm::Mlx4Av vector;
  vector.port = address.port_num;
  vector.grh = address.is_global != 0;
  vector.my_lid_path_bits = address.src_path_bits & 0x7f;
  vector.rlid = address.dlid;
  vector.max_stat_rate = RateOf(address.static_rate, rates);
  vector.sl = address.sl;
  if (vector.grh) {
    vector.mgid_index = address.grh.sgid_index;
    vector.hop_limit = address.grh.hop_limit;
    vector.tclass = address.grh.traffic_class;
    vector.flow_label = address.grh.flow_label & 0xfffff;
    std::ranges::copy(address.grh.dgid, vector.rgid.begin());
  }
  return vector;
}

std::optional<prm::Opcode> TransitionOf(verbs::QpState from,
                                        verbs::QpState to) {
  using enum verbs::QpState;
  using enum prm::Opcode;
  if (to == kReset) return k2RstQp;
  if (to == kError) return k2ErrQp;
  struct Row {
    verbs::QpState from, to;
    prm::Opcode opcode;
  };
  constexpr Row kRows[] = {
      {kReset, kInit, kRst2InitQp},
      {kInit, kInit, kInit2InitQp},
      {kInit, kReadyToReceive, kInit2RtrQp},
      {kReadyToReceive, kReadyToSend, kRtr2RtsQp},
      {kReadyToSend, kReadyToSend, kRts2RtsQp},
      {kSendQueueError, kReadyToSend, kSqErr2RtsQp},
      {kReadyToSend, kSendQueueDrain, kRts2SqdQp},
      {kSendQueueDrain, kSendQueueDrain, kSqd2SqdQp},
      {kSendQueueDrain, kReadyToSend, kSqd2RtsQp},
  };
  for (const Row& row : kRows) {
    if (row.from == from && row.to == to) return row.opcode;
  }
  return std::nullopt;
}

void SetAttributes(verbs::QpType type, const verbs::QpAttributes& attributes,
                   uint16_t rates, prm::QpContext& context) {
  const bool connected = type != verbs::QpType::kUd;
  context.service = ServiceOf(type);
  context.pm_state = prm::kPathMigrated;
  context.mtu = connected && attributes.path_mtu != 0
                    ? static_cast<uint8_t>(attributes.path_mtu)
                    : kLongestMtu;
  context.log_msg_max = connected ? uint8_t{kLogMaxMessage} : kLogDatagram;
  context.ack_request_freq = kLogAckInterval;
  context.remote_qpn = attributes.dest_qp_num & 0xffffff;
  prm::AddressPath& path = context.primary;
  SetPath(attributes.ah_attr, rates, path);
  path.pkey_index = static_cast<uint8_t>(attributes.pkey_index & 0x7f);
  path.ack_timeout = attributes.timeout;
  path.counter_index = prm::kNoCounter;
  path.sched_queue = prm::SchedQueue(std::max<int>(attributes.port_num, 1),
                                     connected ? attributes.ah_attr.sl : 0);
  context.log_sra_max = LogReads(attributes.max_rd_atomic);
  context.log_rra_max = LogReads(attributes.max_dest_rd_atomic);
  context.retry_count = attributes.retry_cnt;
  context.rnr_retry = attributes.rnr_retry;
  context.min_rnr_nak = attributes.min_rnr_timer;
  context.next_send_psn = attributes.sq_psn & 0xffffff;
  context.next_receive_psn = attributes.rq_psn & 0xffffff;
  const uint32_t rights = attributes.qp_access_flags;
  context.remote_write = (rights & verbs::access::kRemoteWrite) != 0;
  // Only a reliable connection answers RDMA READs and atomic operations,
  // whatever rights it was given, and only one that has room for them
  // (hw/mlx4/qp.c, to_mlx4_access_flags).
  const bool answers =
      type == verbs::QpType::kRc && attributes.max_dest_rd_atomic != 0;
  context.remote_read = answers && (rights & verbs::access::kRemoteRead) != 0;
  context.remote_atomic =
      answers && (rights & verbs::access::kRemoteAtomic) != 0;
  context.qkey = attributes.qkey;
}

uint32_t OptionalOf(prm::Opcode opcode, uint32_t mask) {
  namespace attribute = verbs::qp_attribute;
  struct Row {
    uint32_t attribute, optional;
  };
  constexpr uint32_t kRights =
      prm::kOptRemoteRead | prm::kOptRemoteWrite | prm::kOptRemoteAtomic;
  constexpr Row kRows[] = {
      {attribute::kAccessFlags, kRights},
      {attribute::kPKeyIndex, prm::kOptPKeyIndex},
      {attribute::kQKey, prm::kOptQKey},
      {attribute::kAddress, prm::kOptPrimaryPath | prm::kOptSchedQueue},
      {attribute::kTimeout, prm::kOptAckTimeout},
      {attribute::kRetryCount, prm::kOptRetryCount},
      {attribute::kRnrRetry, prm::kOptRnrRetry},
      {attribute::kMaxReads, prm::kOptSraMax},
      {attribute::kMaxReadsHere, prm::kOptRraMax | kRights},
      {attribute::kMinRnrTimer, prm::kOptRnrTimeout},
  };
  // In earlier transitions the port comes with the path to the peer.
  uint32_t optional = 0;
  if (opcode == prm::Opcode::kSqd2SqdQp && (mask & attribute::kPort) != 0) {
    optional |= prm::kOptSchedQueue;
  }
  for (const Row& row : kRows) {
    if ((mask & row.attribute) != 0) optional |= row.optional;
  }
  return optional;
}

std::vector<std::byte> QpMailbox(const prm::QpContext& context,
                                 uint32_t optional) {
  std::vector<std::byte> mailbox(prm::kQpContextInMailbox +
                                 wire::kBytes<prm::QpContext>);
  for (size_t i = 0; i < 4; ++i) {
    mailbox[i] = static_cast<std::byte>(optional >> (24 - 8 * i));
  }
  wire::Encode(context, std::span(mailbox).subspan(prm::kQpContextInMailbox));
  return mailbox;
}

prm::QpContextState ContextState(verbs::QpState state) {
  switch (state) {
    case verbs::QpState::kReset:
      return prm::QpContextState::kReset;
    case verbs::QpState::kInit:
      return prm::QpContextState::kInit;
    case verbs::QpState::kReadyToReceive:
      return prm::QpContextState::kRtr;
    case verbs::QpState::kReadyToSend:
      return prm::QpContextState::kRts;
    case verbs::QpState::kSendQueueDrain:
      return prm::QpContextState::kSqDrained;
    case verbs::QpState::kSendQueueError:
      return prm::QpContextState::kSqError;
    case verbs::QpState::kError:
      break;
  }
  return prm::QpContextState::kError;
}

verbs::QpState StateOf(prm::QpContextState state) {
  switch (state) {
    case prm::QpContextState::kReset:
      return verbs::QpState::kReset;
    case prm::QpContextState::kInit:
      return verbs::QpState::kInit;
    case prm::QpContextState::kRtr:
      return verbs::QpState::kReadyToReceive;
    case prm::QpContextState::kRts:
      return verbs::QpState::kReadyToSend;
    case prm::QpContextState::kSqDrained:
    case prm::QpContextState::kSqDraining:
      return verbs::QpState::kSendQueueDrain;
    case prm::QpContextState::kSqError:
      return verbs::QpState::kSendQueueError;
    case prm::QpContextState::kError:
      break;
  }
  return verbs::QpState::kError;
}

}  // namespace ibemu::hca::mlx4
