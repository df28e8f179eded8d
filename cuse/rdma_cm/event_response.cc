#include "cuse/rdma_cm/event_response.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace ibemu::cuse {
namespace {

// Returns how many bytes were copied.
uint8_t CopyPrivateData(const std::vector<std::byte>& from,
                        __u8 (&to)[RDMA_MAX_PRIVATE_DATA]) {
  const size_t size = std::min<size_t>(from.size(), UINT8_MAX);
  std::copy_n(from.begin(), size, reinterpret_cast<std::byte*>(to));
  return static_cast<uint8_t>(size);
}

rdma_ucm_conn_param ConnectionParam(
    const rdma_cm::ConnectionParameters& parameters) {
  rdma_ucm_conn_param param{};
  param.qp_num = parameters.qp_num;
  param.private_data_len =
      CopyPrivateData(parameters.private_data, param.private_data);
  param.srq = parameters.srq ? 1 : 0;
  param.responder_resources = parameters.responder_resources;
  param.initiator_depth = parameters.initiator_depth;
  param.flow_control = parameters.flow_control;
  param.retry_count = parameters.retry_count;
  param.rnr_retry_count = parameters.rnr_retry_count;
  return param;
}

rdma_ucm_ud_param DatagramParam(const rdma_cm::DatagramParameters& parameters) {
  rdma_ucm_ud_param param{};
  param.qp_num = parameters.qp_num;
  param.qkey = parameters.qkey;
  param.ah_attr = parameters.address;
  param.private_data_len =
      CopyPrivateData(parameters.private_data, param.private_data);
  return param;
}

}  // namespace

rdma_ucm_event_resp EventResponse(const rdma_cm::QueuedEvent& queued) {
  const rdma_cm::Event& event = queued.event;
  rdma_ucm_event_resp response{};
  response.uid = queued.told_uid;
  response.id = queued.told_id;
  response.event = static_cast<uint32_t>(event.type);
  response.status = static_cast<uint32_t>(event.status);
  if (const auto* connection =
          std::get_if<rdma_cm::ConnectionParameters>(&event.parameters)) {
    response.param.conn = ConnectionParam(*connection);
  }
  if (const auto* datagrams =
          std::get_if<rdma_cm::DatagramParameters>(&event.parameters)) {
    response.param.ud = DatagramParam(*datagrams);
  }
  response.ece.vendor_id = event.ece.vendor_id;
  response.ece.attr_mod = event.ece.attr_mod;
  return response;
}

}  // namespace ibemu::cuse
