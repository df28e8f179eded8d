#include "verbs/context.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace ibemu::verbs {
namespace {

template <class T>
std::vector<std::byte> ToVector(const T& value) {
  const Bytes bytes = AsBytes(value);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

// A row of the table of commands: lengths in bytes, without headers and without
// what a driver adds.
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
  };
  const auto* const found = std::find_if(
      kMethods.begin(), kMethods.end(), [&command](const Method& method) {
        return method.number == command.number &&
               method.extended == command.extended;
      });
  return found == kMethods.end() ? nullptr : &*found;
}

Answer Context::Execute(Bytes written, pid_t caller) {
  Answer answer;
  const absl::StatusOr<Command> command = ParseCommand(written);
  if (!command.ok()) {
    answer.status = command.status();
    return answer;
  }
  const Method* const method = FindMethod(*command);
  if (method == nullptr) {
    const std::string text =
        absl::StrFormat("there is no command %d", command->number);
    answer.status = command->extended ? absl::UnimplementedError(text)
                                      : absl::InvalidArgumentError(text);
    return answer;
  }
  if (command->request.size() < method->request ||
      command->room < method->response) {
    answer.status = absl::OutOfRangeError("request or response is too short");
    return answer;
  }
  if (async_ == nullptr && method->handler != &Context::GetContext) {
    answer.status = absl::InvalidArgumentError("GET_CONTEXT comes first");
    return answer;
  }
  Call call{.request = command->request, .caller = caller};
  answer.status = (this->*method->handler)(call);
  answer.response = std::move(call.response);
  if (answer.response.size() > command->room) {
    answer.response.resize(command->room);
  }
  answer.address = command->response;
  answer.undo = std::move(call.undo);
  return answer;
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
  auto response = Blank<ib_uverbs_get_context_resp>();
  response.async_fd = static_cast<uint32_t>(fd);
  response.num_comp_vectors = 1;
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
