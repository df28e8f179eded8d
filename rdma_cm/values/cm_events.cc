#include "rdma_cm/values/cm_events.h"

#include <utility>

namespace ibemu::rdma_cm {
namespace {

// The peer's depths are told crossed: what it initiates, we respond to.
Event EventOfReply(const cm::CmEvent& event) {
  const cm::CmReply& reply = event.reply;
  return {.type = EventType::kConnectResponse,
          .parameters =
              ConnectionParameters{.qp_num = reply.qpn,
                                   .private_data = event.private_data,
                                   .srq = reply.srq,
                                   .responder_resources = reply.initiator_depth,
                                   .initiator_depth = reply.responder_resources,
                                   .flow_control = reply.flow_control,
                                   .rnr_retry_count = reply.rnr_retry_count},
          .ece = reply.ece};
}

}  // namespace

Event EventOfConnection(const cm::CmEvent& event) {
  using Kind = cm::CmEvent::Kind;
  switch (event.kind) {
    case Kind::kRep:
      return EventOfReply(event);
    case Kind::kRtu:
    case Kind::kEstablished:
      return {.type = EventType::kEstablished};
    case Kind::kDreq:
    case Kind::kDrep:
      return {.type = EventType::kDisconnected};
    case Kind::kDreqError:
      return {.type = EventType::kDisconnected,
              .status = event_status::kTimedOut};
    case Kind::kRej:
      return {.type = EventType::kRejected,
              .status = event.reason,
              .parameters =
                  ConnectionParameters{.private_data = event.private_data}};
    case Kind::kTimewaitExit:
      return {.type = EventType::kTimewaitExit};
    case Kind::kReqError:
    case Kind::kRepError:
    case Kind::kSidrReqError:
    case Kind::kSidrRep:
      break;
  }
  return {.type = EventType::kUnreachable, .status = event_status::kTimedOut};
}

Event EventOfRequest(const cm::CmRequest& request,
                     std::vector<std::byte> data) {
  return {
      .type = EventType::kConnectRequest,
      .parameters =
          ConnectionParameters{.qp_num = request.qpn,
                               .private_data = std::move(data),
                               .srq = request.srq,
                               .responder_resources = request.initiator_depth,
                               .initiator_depth = request.responder_resources,
                               .flow_control = request.flow_control,
                               .retry_count = request.retry_count,
                               .rnr_retry_count = request.rnr_retry_count},
      .ece = request.ece};
}

Event EventOfSidrRequest(std::vector<std::byte> data) {
  return {.type = EventType::kConnectRequest,
          .parameters = DatagramParameters{.private_data = std::move(data)}};
}

}  // namespace ibemu::rdma_cm
