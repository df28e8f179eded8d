#include "cm/received_req.h"

#include "cm/cm_mad.h"

namespace ibemu::cm {

mad::AddressVector ReplyTo(const mad::IncomingMessage& message) {
  return {.dlid = message.slid,
          .sl = message.sl,
          .path_bits = message.path_bits,
          .pkey_index = message.pkey_index,
          .qpn = message.source_qpn,
          .qkey = mad::kQp1QKey,
          .grh = message.grh};
}

Req ReceivedReq(const mad::IncomingMessage& mad, wire::Lid base_lid) {
  auto req = BodyOf<Req>(mad.mad);
  ReqPath& path = req.primary;
  if (path.subnet_local) return req;
  if (path.local_lid == wire::Lid::kPermissive) {
    path.local_lid = mad.slid;
    path.sl = mad.sl;
  }
  if (path.remote_lid == wire::Lid::kPermissive) {
    path.remote_lid =
        static_cast<wire::Lid>(static_cast<unsigned>(base_lid) | mad.path_bits);
  }
  return req;
}

verbs::QpType QpTypeOf(const Req& req) {
  switch (req.transport_service) {
    case TransportService::kReliableConnection:
      return verbs::QpType::kRc;
    case TransportService::kUnreliableConnection:
      return verbs::QpType::kUc;
    default:
      return verbs::QpType::kSmi;
  }
}

mad::PathRecord PathOf(const Req& req, const mad::IncomingMessage& mad) {
  const ReqPath& sent = req.primary;
  mad::PathRecord path{.dgid = sent.local_gid,
                       .sgid = sent.remote_gid,
                       .dlid = mad.slid,
                       .slid = sent.remote_lid,
                       .flow_label = sent.flow_label,
                       .hop_limit = mad.grh ? mad.grh->hop_limit : uint8_t{0},
                       .traffic_class = sent.traffic_class,
                       .reversible = true,
                       .p_key = req.p_key,
                       .sl = sent.sl,
                       .mtu_selector = mad::Selector::kExactly,
                       .mtu = req.path_mtu,
                       .rate_selector = mad::Selector::kExactly,
                       .rate = sent.packet_rate,
                       .packet_life_time_selector = mad::Selector::kExactly,
                       .packet_life_time = req.primary_local_ack_timeout};
  if (path.packet_life_time > 0) --path.packet_life_time;
  return path;
}

Arrived ArrivedOf(const Req& req, int port, const mad::IncomingMessage& mad) {
  const mad::PathRecord path = PathOf(req, mad);
  Arrived arrived{.port = port,
                  .service_id = req.service_id,
                  .peer_ca = req.local_ca_guid,
                  .pkey = req.p_key,
                  .local_gid = req.primary.remote_gid,
                  .path = path,
                  .from = ReplyTo(mad)};
  arrived.request = {
      .path = path,
      .service_id = req.service_id,
      .qp_type = QpTypeOf(req),
      .qpn = req.local_qpn,
      .starting_psn = req.starting_psn,
      .responder_resources = req.responder_resources,
      .initiator_depth = req.initiator_depth,
      .flow_control = req.end_to_end_flow_control,
      .retry_count = req.retry_count,
      .rnr_retry_count = req.rnr_retry_count,
      .srq = req.srq,
      .ece = {.vendor_id = req.vendor_id,
              .attr_mod = wire::Get<&mad::MadHeader::attr_mod>(mad.mad)}};
  arrived.private_data.assign(req.private_data.begin(), req.private_data.end());
  return arrived;
}

}  // namespace ibemu::cm
