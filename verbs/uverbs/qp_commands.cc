#include "verbs/uverbs/qp_commands.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "verbs/uverbs/responses.h"

namespace ibemu::verbs {
namespace {

AddressAttributes AddressOf(const ib_uverbs_qp_dest& dest) {
  AddressAttributes address{};
  std::copy(std::begin(dest.dgid), std::end(dest.dgid), address.grh.dgid);
  address.grh.flow_label = dest.flow_label;
  address.grh.sgid_index = dest.sgid_index;
  address.grh.hop_limit = dest.hop_limit;
  address.grh.traffic_class = dest.traffic_class;
  address.dlid = dest.dlid;
  address.sl = dest.sl;
  address.src_path_bits = dest.src_path_bits;
  address.static_rate = dest.static_rate;
  address.is_global = dest.is_global;
  address.port_num = dest.port_num;
  return address;
}

ib_uverbs_qp_dest DestOf(const AddressAttributes& address) {
  ib_uverbs_qp_dest dest{};
  std::copy(std::begin(address.grh.dgid), std::end(address.grh.dgid),
            dest.dgid);
  dest.flow_label = address.grh.flow_label;
  dest.sgid_index = address.grh.sgid_index;
  dest.hop_limit = address.grh.hop_limit;
  dest.traffic_class = address.grh.traffic_class;
  dest.dlid = address.dlid;
  dest.sl = address.sl;
  dest.src_path_bits = address.src_path_bits;
  dest.static_rate = address.static_rate;
  dest.is_global = address.is_global;
  dest.port_num = address.port_num;
  return dest;
}

QpAttributes AttributesOf(const ib_uverbs_modify_qp& request) {
  QpAttributes attributes{};
  attributes.qp_attr_mask = request.attr_mask;
  attributes.qp_state = request.qp_state;
  attributes.cur_qp_state = request.cur_qp_state;
  attributes.path_mtu = request.path_mtu;
  attributes.path_mig_state = request.path_mig_state;
  attributes.qkey = request.qkey;
  attributes.rq_psn = request.rq_psn;
  attributes.sq_psn = request.sq_psn;
  attributes.dest_qp_num = request.dest_qp_num;
  attributes.qp_access_flags = request.qp_access_flags;
  attributes.ah_attr = AddressOf(request.dest);
  attributes.alt_ah_attr = AddressOf(request.alt_dest);
  attributes.pkey_index = request.pkey_index;
  attributes.alt_pkey_index = request.alt_pkey_index;
  attributes.en_sqd_async_notify = request.en_sqd_async_notify;
  attributes.max_rd_atomic = request.max_rd_atomic;
  attributes.max_dest_rd_atomic = request.max_dest_rd_atomic;
  attributes.min_rnr_timer = request.min_rnr_timer;
  attributes.port_num = request.port_num;
  attributes.timeout = request.timeout;
  attributes.retry_cnt = request.retry_cnt;
  attributes.rnr_retry = request.rnr_retry;
  attributes.alt_port_num = request.alt_port_num;
  attributes.alt_timeout = request.alt_timeout;
  return attributes;
}

// Checks that the mask has only bits that libibverbs may set, and that the
// states exist.
absl::Status CheckModification(const ib_uverbs_modify_qp& request) {
  constexpr uint32_t kKnown = (qp_attribute::kDestinationQp << 1) - 1;
  constexpr auto kLast = static_cast<uint8_t>(QpState::kError);
  const uint32_t mask = request.attr_mask;
  if ((mask & ~kKnown) != 0) {
    return absl::InvalidArgumentError("an unknown attribute");
  }
  if (((mask & qp_attribute::kState) != 0 && request.qp_state > kLast) ||
      ((mask & qp_attribute::kCurrentState) != 0 &&
       request.cur_qp_state > kLast)) {
    return absl::InvalidArgumentError("an unknown state");
  }
  return absl::OkStatus();
}

bool IsKnown(uint8_t type) {
  return type == static_cast<uint8_t>(QpType::kRc) ||
         type == static_cast<uint8_t>(QpType::kUc) ||
         type == static_cast<uint8_t>(QpType::kUd);
}

}  // namespace

QpCommands::QpCommands(CommandTable& table, Provider& provider,
                       ContextClient& client, ContextObjects& objects)
    : provider_(provider), client_(client), objects_(objects) {
  table.Add<ib_uverbs_create_qp, ib_uverbs_create_qp_resp>(
      IB_USER_VERBS_CMD_CREATE_QP,
      [this](CommandCall& call) { return CreateQp(call); });
  table.Add<ib_uverbs_query_qp, ib_uverbs_query_qp_resp>(
      IB_USER_VERBS_CMD_QUERY_QP,
      [this](CommandCall& call) { return QueryQp(call); });
  table.Add<ib_uverbs_modify_qp>(
      IB_USER_VERBS_CMD_MODIFY_QP,
      [this](CommandCall& call) { return ModifyQp(call); });
  table.Add<ib_uverbs_destroy_qp, ib_uverbs_destroy_qp_resp>(
      IB_USER_VERBS_CMD_DESTROY_QP,
      [this](CommandCall& call) { return DestroyQp(call); });
  table.Add<ib_uverbs_attach_mcast>(
      IB_USER_VERBS_CMD_ATTACH_MCAST,
      [this](CommandCall& call) { return AttachMcast(call); });
  table.Add<ib_uverbs_detach_mcast>(
      IB_USER_VERBS_CMD_DETACH_MCAST,
      [this](CommandCall& call) { return DetachMcast(call); });
}

absl::StatusOr<QpInit> QpCommands::InitOf(
    const ib_uverbs_create_qp& request) const {
  if (!IsKnown(request.qp_type)) {
    return absl::InvalidArgumentError("not a type that programs can make");
  }
  IBEMU_ASSIGN_OR_RETURN(const PdObject* pd,
                         FindObject(objects_.pds, request.pd_handle));
  IBEMU_ASSIGN_OR_RETURN(const CqObject* send,
                         FindObject(objects_.cqs, request.send_cq_handle));
  IBEMU_ASSIGN_OR_RETURN(const CqObject* receive,
                         FindObject(objects_.cqs, request.recv_cq_handle));
  QpInit init;
  init.type = QpType{request.qp_type};
  init.signal_all = request.sq_sig_all != 0;
  init.capacity = {.send_requests = request.max_send_wr,
                   .receive_requests = request.max_recv_wr,
                   .send_sges = request.max_send_sge,
                   .receive_sges = request.max_recv_sge,
                   .inline_bytes = request.max_inline_data};
  init.pd = pd->pd.get();
  init.send_cq = send->cq.get();
  init.receive_cq = receive->cq.get();
  if (request.is_srq != 0) {
    IBEMU_ASSIGN_OR_RETURN(const SrqObject* srq,
                           FindObject(objects_.srqs, request.srq_handle));
    init.srq = srq->srq.get();
    init.capacity.receive_requests = init.capacity.receive_sges = 0;
  }
  return init;
}

absl::Status QpCommands::CreateQp(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_create_qp>(call.request);
  IBEMU_ASSIGN_OR_RETURN(const QpInit init, InitOf(request));
  auto object =
      std::make_unique<QpObject>(client_, objects_.async, request.user_handle);
  IBEMU_ASSIGN_OR_RETURN(object->qp, provider_.CreateQp(init, *object));
  object->type = init.type;
  object->signal_all = init.signal_all;
  object->pd = Use(objects_.pds.Find(request.pd_handle)->users);
  object->send_cq = Use(objects_.cqs.Find(request.send_cq_handle)->users);
  object->receive_cq = Use(objects_.cqs.Find(request.recv_cq_handle)->users);
  object->send_cq_handle = request.send_cq_handle;
  object->receive_cq_handle = request.recv_cq_handle;
  if (init.srq != nullptr) {
    object->srq = Use(objects_.srqs.Find(request.srq_handle)->users);
    object->srq_handle = request.srq_handle;
  }
  const QpCapacity capacity = object->qp->capacity();
  auto response = Blank<ib_uverbs_create_qp_resp>();
  response.qpn = object->qp->number();
  response.max_send_wr = capacity.send_requests;
  response.max_recv_wr = capacity.receive_requests;
  response.max_send_sge = capacity.send_sges;
  response.max_recv_sge = capacity.receive_sges;
  response.max_inline_data = capacity.inline_bytes;
  response.qp_handle = objects_.qps.Add(std::move(object));
  objects_.qp_handles[response.qpn] = response.qp_handle;
  call.response = ToVector(response);
  call.undo = [this, handle = response.qp_handle, number = response.qpn] {
    TakeBack(objects_.qps, handle);
    if (objects_.qps.Find(handle) != nullptr) return;
    client_.OnPromise(handle, nullptr);
    const auto known = objects_.qp_handles.find(number);
    if (known != objects_.qp_handles.end() && known->second == handle) {
      objects_.qp_handles.erase(known);
    }
  };
  return absl::OkStatus();
}

absl::Status QpCommands::QueryQp(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_query_qp>(call.request);
  IBEMU_ASSIGN_OR_RETURN(const QpObject* qp,
                         FindObject(objects_.qps, request.qp_handle));
  const QpAttributes attributes = qp->qp->Query();
  const QpCapacity capacity = qp->qp->capacity();
  auto response = Blank<ib_uverbs_query_qp_resp>();
  response.dest = DestOf(attributes.ah_attr);
  response.alt_dest = DestOf(attributes.alt_ah_attr);
  response.max_send_wr = capacity.send_requests;
  response.max_recv_wr = capacity.receive_requests;
  response.max_send_sge = capacity.send_sges;
  response.max_recv_sge = capacity.receive_sges;
  response.max_inline_data = capacity.inline_bytes;
  response.qkey = attributes.qkey;
  response.rq_psn = attributes.rq_psn;
  response.sq_psn = attributes.sq_psn;
  response.dest_qp_num = attributes.dest_qp_num;
  response.qp_access_flags = attributes.qp_access_flags;
  response.pkey_index = attributes.pkey_index;
  response.alt_pkey_index = attributes.alt_pkey_index;
  response.qp_state = static_cast<uint8_t>(attributes.qp_state);
  response.cur_qp_state = static_cast<uint8_t>(attributes.cur_qp_state);
  response.path_mtu = static_cast<uint8_t>(attributes.path_mtu);
  response.path_mig_state = static_cast<uint8_t>(attributes.path_mig_state);
  response.sq_draining = attributes.sq_draining;
  response.max_rd_atomic = attributes.max_rd_atomic;
  response.max_dest_rd_atomic = attributes.max_dest_rd_atomic;
  response.min_rnr_timer = attributes.min_rnr_timer;
  response.port_num = attributes.port_num;
  response.timeout = attributes.timeout;
  response.retry_cnt = attributes.retry_cnt;
  response.rnr_retry = attributes.rnr_retry;
  response.alt_port_num = attributes.alt_port_num;
  response.alt_timeout = attributes.alt_timeout;
  response.sq_sig_all = qp->signal_all ? 1 : 0;
  call.response = ToVector(response);
  return absl::OkStatus();
}

absl::Status QpCommands::ModifyQp(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_modify_qp>(call.request);
  IBEMU_ASSIGN_OR_RETURN(QpObject * qp,
                         FindObject(objects_.qps, request.qp_handle));
  IBEMU_RETURN_IF_ERROR(CheckModification(request));
  absl::Status status = qp->qp->Modify(AttributesOf(request));
  client_.OnPromise(request.qp_handle, qp);
  return status;
}

absl::Status QpCommands::DestroyQp(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_destroy_qp>(call.request);
  IBEMU_ASSIGN_OR_RETURN(const QpObject* qp,
                         FindObject(objects_.qps, request.qp_handle));
  if (!qp->groups.empty()) return StillUsed();
  call.response = ToVector(ib_uverbs_destroy_qp_resp{qp->events.delivered()});
  client_.OnPromise(request.qp_handle, nullptr);
  objects_.qp_handles.erase(qp->qp->number());
  objects_.qps.Remove(request.qp_handle);
  return absl::OkStatus();
}

absl::Status QpCommands::AttachMcast(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_attach_mcast>(call.request);
  IBEMU_ASSIGN_OR_RETURN(QpObject * qp,
                         FindObject(objects_.qps, request.qp_handle));
  const auto group = std::make_pair(std::to_array(request.gid), request.mlid);
  if (qp->groups.contains(group)) return absl::OkStatus();
  IBEMU_RETURN_IF_ERROR(qp->qp->AttachMulticast(group.first, group.second));
  qp->groups.insert(group);
  return absl::OkStatus();
}

absl::Status QpCommands::DetachMcast(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_detach_mcast>(call.request);
  IBEMU_ASSIGN_OR_RETURN(QpObject * qp,
                         FindObject(objects_.qps, request.qp_handle));
  const auto group = std::make_pair(std::to_array(request.gid), request.mlid);
  if (qp->groups.erase(group) == 0) {
    return absl::InvalidArgumentError("not attached to that group");
  }
  qp->qp->DetachMulticast(group.first, group.second);
  return absl::OkStatus();
}

}  // namespace ibemu::verbs
