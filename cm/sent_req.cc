#include "cm/sent_req.h"

#include "base/status_macros.h"
#include "cm/private_data.h"
#include "cm/timeouts.h"

namespace ibemu::cm {
namespace {

// Whether the LIDs of a path mean something to the peer.
bool IsLocal(const mad::PathRecord& path) { return path.hop_limit <= 1; }

ReqPath ReqPathOf(const mad::PathRecord& path) {
  return {.local_lid = IsLocal(path) ? path.slid : wire::Lid::kPermissive,
          .remote_lid = IsLocal(path) ? path.dlid : wire::Lid::kPermissive,
          .local_gid = path.sgid,
          .remote_gid = path.dgid,
          .flow_label = path.flow_label,
          .packet_rate = path.rate,
          .traffic_class = path.traffic_class,
          .hop_limit = path.hop_limit,
          .sl = path.sl,
          .subnet_local = IsLocal(path)};
}

}  // namespace

absl::StatusOr<Req> ReqOf(const LocalEnd& local, const CmRequest& request) {
  const bool reliable = request.qp_type == verbs::QpType::kRc;
  if (!reliable && request.qp_type != verbs::QpType::kUc) {
    return absl::InvalidArgumentError("only RC and UC are connected");
  }
  const mad::PathRecord& path = request.path;
  Req req{.local_comm_id = local.comm_id,
          .vendor_id = request.ece.vendor_id,
          .service_id = request.service_id,
          .local_ca_guid = local.ca_guid,
          .local_qpn = request.qpn,
          .responder_resources = request.responder_resources,
          .initiator_depth = request.initiator_depth,
          .remote_cm_response_timeout = kResponseTimeout,
          .transport_service = reliable
                                   ? TransportService::kReliableConnection
                                   : TransportService::kUnreliableConnection,
          .end_to_end_flow_control = request.flow_control,
          .starting_psn = request.starting_psn,
          .local_cm_response_timeout = kResponseTimeout,
          .retry_count = request.retry_count,
          .p_key = path.p_key,
          .path_mtu = path.mtu,
          .rnr_retry_count = request.rnr_retry_count,
          .max_cm_retries = kMaxRetries,
          .srq = request.srq,
          .primary = ReqPathOf(path),
          .primary_local_ack_timeout =
              AckTimeout(local.ca_ack_delay, path.packet_life_time)};
  IBEMU_RETURN_IF_ERROR(
      FillPrivateData(request.private_data, req.private_data));
  return req;
}

}  // namespace ibemu::cm
