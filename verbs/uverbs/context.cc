#include "verbs/uverbs/context.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "verbs/uverbs/responses.h"

namespace ibemu::verbs {

// A row of the table of commands.  Lengths are in bytes, without headers and
// without what a driver adds.
struct Context::Method {
  uint32_t number;
  bool extended;
  size_t request;
  size_t response;
  Handler handler;
};

const Context::Method* Context::FindMethod(const Command& command) {
  static constexpr std::array kMethods = {
      Method{IB_USER_VERBS_CMD_GET_CONTEXT, false,
             sizeof(ib_uverbs_get_context), sizeof(ib_uverbs_get_context_resp),
             &Context::GetContext},
      Method{IB_USER_VERBS_CMD_QUERY_DEVICE, false,
             sizeof(ib_uverbs_query_device),
             sizeof(ib_uverbs_query_device_resp), &Context::QueryDevice},
      Method{IB_USER_VERBS_EX_CMD_QUERY_DEVICE, true,
             sizeof(ib_uverbs_ex_query_device),
             sizeof(ib_uverbs_query_device_resp),
             &Context::QueryDeviceExtended},
      Method{IB_USER_VERBS_CMD_QUERY_PORT, false, sizeof(ib_uverbs_query_port),
             sizeof(ib_uverbs_query_port_resp), &Context::QueryPort},
      Method{IB_USER_VERBS_CMD_ALLOC_PD, false, sizeof(ib_uverbs_alloc_pd),
             sizeof(ib_uverbs_alloc_pd_resp), &Context::AllocPd},
      Method{IB_USER_VERBS_CMD_DEALLOC_PD, false, sizeof(ib_uverbs_dealloc_pd),
             0, &Context::DeallocPd},
      Method{IB_USER_VERBS_CMD_REG_MR, false, sizeof(ib_uverbs_reg_mr),
             sizeof(ib_uverbs_reg_mr_resp), &Context::RegMr},
      Method{IB_USER_VERBS_CMD_DEREG_MR, false, sizeof(ib_uverbs_dereg_mr), 0,
             &Context::DeregMr},
      Method{IB_USER_VERBS_CMD_CREATE_AH, false, sizeof(ib_uverbs_create_ah),
             sizeof(ib_uverbs_create_ah_resp), &Context::CreateAh},
      Method{IB_USER_VERBS_CMD_DESTROY_AH, false, sizeof(ib_uverbs_destroy_ah),
             0, &Context::DestroyAh},
      Method{IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, false,
             sizeof(ib_uverbs_create_comp_channel),
             sizeof(ib_uverbs_create_comp_channel_resp),
             &Context::CreateCompChannel},
      Method{IB_USER_VERBS_CMD_CREATE_CQ, false, sizeof(ib_uverbs_create_cq),
             sizeof(ib_uverbs_create_cq_resp), &Context::CreateCq},
      Method{IB_USER_VERBS_CMD_RESIZE_CQ, false, sizeof(ib_uverbs_resize_cq),
             sizeof(uint32_t), &Context::ResizeCq},
      Method{IB_USER_VERBS_CMD_DESTROY_CQ, false, sizeof(ib_uverbs_destroy_cq),
             sizeof(ib_uverbs_destroy_cq_resp), &Context::DestroyCq},
      Method{IB_USER_VERBS_CMD_POLL_CQ, false, sizeof(ib_uverbs_poll_cq),
             sizeof(ib_uverbs_poll_cq_resp), &Context::PollCq},
      Method{IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, false,
             sizeof(ib_uverbs_req_notify_cq), 0, &Context::ReqNotifyCq},
      Method{IB_USER_VERBS_CMD_CREATE_QP, false, sizeof(ib_uverbs_create_qp),
             sizeof(ib_uverbs_create_qp_resp), &Context::CreateQp},
      Method{IB_USER_VERBS_CMD_QUERY_QP, false, sizeof(ib_uverbs_query_qp),
             sizeof(ib_uverbs_query_qp_resp), &Context::QueryQp},
      Method{IB_USER_VERBS_CMD_MODIFY_QP, false, sizeof(ib_uverbs_modify_qp), 0,
             &Context::ModifyQp},
      Method{IB_USER_VERBS_CMD_DESTROY_QP, false, sizeof(ib_uverbs_destroy_qp),
             sizeof(ib_uverbs_destroy_qp_resp), &Context::DestroyQp},
      Method{IB_USER_VERBS_CMD_ATTACH_MCAST, false,
             sizeof(ib_uverbs_attach_mcast), 0, &Context::AttachMcast},
      Method{IB_USER_VERBS_CMD_DETACH_MCAST, false,
             sizeof(ib_uverbs_detach_mcast), 0, &Context::DetachMcast},
      Method{IB_USER_VERBS_CMD_CREATE_SRQ, false, sizeof(ib_uverbs_create_srq),
             sizeof(ib_uverbs_create_srq_resp), &Context::CreateSrq},
      Method{IB_USER_VERBS_CMD_MODIFY_SRQ, false, sizeof(ib_uverbs_modify_srq),
             0, &Context::ModifySrq},
      Method{IB_USER_VERBS_CMD_QUERY_SRQ, false, sizeof(ib_uverbs_query_srq),
             sizeof(ib_uverbs_query_srq_resp), &Context::QuerySrq},
      Method{IB_USER_VERBS_CMD_DESTROY_SRQ, false,
             sizeof(ib_uverbs_destroy_srq), sizeof(ib_uverbs_destroy_srq_resp),
             &Context::DestroySrq},
      Method{IB_USER_VERBS_CMD_POST_SEND, false, sizeof(ib_uverbs_post_send),
             sizeof(ib_uverbs_post_send_resp), &Context::PostSend},
      Method{IB_USER_VERBS_CMD_POST_RECV, false, sizeof(ib_uverbs_post_recv),
             sizeof(ib_uverbs_post_recv_resp), &Context::PostRecv},
      Method{IB_USER_VERBS_CMD_POST_SRQ_RECV, false,
             sizeof(ib_uverbs_post_srq_recv),
             sizeof(ib_uverbs_post_srq_recv_resp), &Context::PostSrqRecv},
  };
  const auto* const found = std::find_if(
      kMethods.begin(), kMethods.end(), [&command](const Method& method) {
        return method.number == command.number &&
               method.extended == command.extended;
      });
  return found == kMethods.end() ? nullptr : &*found;
}

Context::~Context() {
  *self_ = nullptr;
  for (const auto& [number, poll] : polls_) timers_.Cancel(poll.end);
  polls_.clear();
  if (async_ != nullptr) provider_.RemoveListener(*this);
}

void Context::Execute(Bytes written, pid_t caller, Done done) {
  const auto fail = [&done](absl::Status status) {
    done(Answer{.status = std::move(status), .response = {}, .undo = {}});
  };
  const absl::StatusOr<Command> command = ParseCommand(written);
  if (!command.ok()) return fail(command.status());
  const Method* const method = FindMethod(*command);
  if (method == nullptr) {
    const std::string text =
        absl::StrFormat("there is no command %d", command->number);
    return fail(command->extended ? absl::UnimplementedError(text)
                                  : absl::InvalidArgumentError(text));
  }
  if (command->request.size() < method->request ||
      command->room < method->response) {
    return fail(absl::OutOfRangeError("request or response is too short"));
  }
  if (async_ == nullptr && method->handler != &Context::GetContext) {
    return fail(absl::InvalidArgumentError("GET_CONTEXT comes first"));
  }
  Call call{.request = command->request,
            .caller = caller,
            .address = method->response == 0 ? 0 : command->response,
            .room = command->room,
            .done = std::move(done)};
  absl::Status status = (this->*method->handler)(call);
  if (!call.done) return;  // it answers later
  if (call.response.size() > call.room) call.response.resize(call.room);
  call.done(Answer{.status = std::move(status),
                   .response = std::move(call.response),
                   .address = call.address,
                   .undo = std::move(call.undo)});
}

void Context::OnDeviceEvent(EventType type, int port) {
  const ib_uverbs_async_event_desc event = {
      .element = static_cast<uint64_t>(port),
      .event_type = static_cast<uint32_t>(type),
      .reserved = 0};
  async_->Push(AsBytes(event), nullptr);
}

absl::Status Context::GetContext(Call& call) {
  if (async_ != nullptr) {
    return absl::InvalidArgumentError("the file has a context already");
  }
  auto queue = std::make_shared<EventQueue>(sizeof(ib_uverbs_async_event_desc));
  IBEMU_ASSIGN_OR_RETURN(const int fd,
                         client_.GiveDescriptor(Client::Events::kAsynchronous,
                                                call.caller, queue));
  async_ = std::move(queue);
  provider_.AddListener(*this);
  auto response = Blank<ib_uverbs_get_context_resp>();
  response.async_fd = static_cast<uint32_t>(fd);
  response.num_comp_vectors = kCompletionVectors;
  call.response = ToVector(response);
  return absl::OkStatus();
}

absl::Status Context::QueryDevice(Call& call) {
  call.response = ToVector(provider_.QueryDevice());
  return absl::OkStatus();
}

absl::Status Context::QueryDeviceExtended(Call& call) {
  const auto request = ReadAs<ib_uverbs_ex_query_device>(call.request);
  if (request.comp_mask != 0 || request.reserved != 0) {
    return absl::InvalidArgumentError("QUERY_DEVICE has no such option");
  }
  ib_uverbs_ex_query_device_resp response{};
  response.base = provider_.QueryDevice();
  response.response_length = sizeof response;
  response.device_cap_flags_ex = response.base.device_cap_flags;
  call.response = ToVector(response);
  return absl::OkStatus();
}

absl::Status Context::QueryPort(Call& call) {
  const auto request = ReadAs<ib_uverbs_query_port>(call.request);
  IBEMU_ASSIGN_OR_RETURN(const PortAttributes attributes,
                         provider_.QueryPort(request.port_num));
  call.response = ToVector(attributes);
  return absl::OkStatus();
}

}  // namespace ibemu::verbs
