#include "cm/connected_qp.h"

namespace ibemu::cm {
namespace {

namespace attribute = verbs::qp_attribute;

verbs::QpAttributes AttributesFor(verbs::QpState state) {
  verbs::QpAttributes attributes{};
  attributes.qp_attr_mask = attribute::kState;
  attributes.qp_state = static_cast<uint32_t>(state);
  return attributes;
}

}  // namespace

verbs::QpAttributes ConnectedQp::ForInit() const {
  verbs::QpAttributes attributes = AttributesFor(verbs::QpState::kInit);
  attributes.qp_attr_mask |=
      attribute::kAccessFlags | attribute::kPKeyIndex | attribute::kPort;
  attributes.qp_access_flags = verbs::access::kRemoteWrite;
  if (responder_resources > 0) {
    attributes.qp_access_flags |=
        verbs::access::kRemoteRead | verbs::access::kRemoteAtomic;
  }
  attributes.pkey_index = route.to.pkey_index;
  attributes.port_num = static_cast<uint8_t>(route.port);
  return attributes;
}

verbs::QpAttributes ConnectedQp::ForReadyToReceive() const {
  verbs::QpAttributes attributes =
      AttributesFor(verbs::QpState::kReadyToReceive);
  attributes.qp_attr_mask |= attribute::kAddress | attribute::kPathMtu |
                             attribute::kDestinationQp | attribute::kReceivePsn;
  attributes.ah_attr = AddressOf(route);
  attributes.ah_attr.dlid = static_cast<uint16_t>(dlid);
  attributes.path_mtu = route.mtu;
  attributes.dest_qp_num = remote_qpn;
  attributes.rq_psn = receive_psn;
  if (type == verbs::QpType::kRc) {
    attributes.qp_attr_mask |=
        attribute::kMaxReadsHere | attribute::kMinRnrTimer;
    attributes.max_dest_rd_atomic = responder_resources;
    attributes.min_rnr_timer = 0;
  }
  return attributes;
}

verbs::QpAttributes ConnectedQp::ForReadyToSend(
    std::optional<uint8_t> ack_timeout) const {
  verbs::QpAttributes attributes = AttributesFor(verbs::QpState::kReadyToSend);
  attributes.qp_attr_mask |= attribute::kSendPsn;
  attributes.sq_psn = send_psn;
  if (type == verbs::QpType::kRc) {
    attributes.qp_attr_mask |= attribute::kTimeout | attribute::kRetryCount |
                               attribute::kRnrRetry | attribute::kMaxReads;
    attributes.timeout = ack_timeout.value_or(timeout);
    attributes.retry_cnt = retry_count;
    attributes.rnr_retry = rnr_retry_count;
    attributes.max_rd_atomic = initiator_depth;
  }
  return attributes;
}

}  // namespace ibemu::cm
