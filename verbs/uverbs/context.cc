#include "verbs/uverbs/context.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "verbs/uverbs/responses.h"

namespace ibemu::verbs {
namespace {

bool IsGetContext(const Command& command) {
  return command.number == IB_USER_VERBS_CMD_GET_CONTEXT && !command.extended;
}

}  // namespace

Context::Context(Provider& provider, AdapterIdentity identity,
                 ContextClient& client, Timers& timers)
    : provider_(provider),
      identity_(identity),
      client_(client),
      memory_(table_, provider, client, timers, objects_),
      ahs_(table_, provider, objects_),
      cqs_(table_, provider, client, timers, objects_),
      qps_(table_, provider, client, objects_),
      srqs_(table_, provider, objects_),
      work_requests_(table_, client, objects_) {
  table_.Add<ib_uverbs_get_context, ib_uverbs_get_context_resp>(
      IB_USER_VERBS_CMD_GET_CONTEXT,
      [this](CommandCall& call) { return GetContext(call); });
  table_.Add<ib_uverbs_query_device, ib_uverbs_query_device_resp>(
      IB_USER_VERBS_CMD_QUERY_DEVICE,
      [this](CommandCall& call) { return QueryDevice(call); });
  table_.AddExtended<ib_uverbs_ex_query_device, ib_uverbs_query_device_resp>(
      IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
      [this](CommandCall& call) { return QueryDeviceExtended(call); });
  table_.Add<ib_uverbs_query_port, ib_uverbs_query_port_resp>(
      IB_USER_VERBS_CMD_QUERY_PORT,
      [this](CommandCall& call) { return QueryPort(call); });
}

Context::~Context() {
  if (objects_.async != nullptr) provider_.RemoveListener(*this);
}

void Context::Execute(Bytes written, pid_t caller, CommandCall::Done done,
                      std::optional<ReadData> data, bool awaited) {
  const auto fail = [&done](absl::Status status) {
    done(Answer{.status = std::move(status), .response = {}, .undo = {}});
  };
  const absl::StatusOr<Command> command = ParseCommand(written);
  if (!command.ok()) return fail(command.status());
  const CommandTable::Method* const method = table_.Find(*command);
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
  if (objects_.async == nullptr && !IsGetContext(*command)) {
    return fail(absl::InvalidArgumentError("GET_CONTEXT comes first"));
  }
  CommandCall call{.request = command->request,
                   .caller = caller,
                   .address = method->response == 0 ? 0 : command->response,
                   .room = command->room,
                   .done = std::move(done),
                   .data = data,
                   .awaited = awaited};
  absl::Status status = method->handler(call);
  if (!call.done) return;  // it answers later
  if (call.response.size() > call.room) call.response.resize(call.room);
  call.done(Answer{.status = std::move(status),
                   .response = std::move(call.response),
                   .address = call.address,
                   .undo = std::move(call.undo)});
}

void Context::OnDeviceEvent(AsyncEventType type, int port) {
  const ib_uverbs_async_event_desc event = {
      .element = static_cast<uint64_t>(port),
      .event_type = static_cast<uint32_t>(type),
      .reserved = 0};
  objects_.async->Push(AsBytes(event), nullptr);
}

// What QUERY_DEVICE says of the adapter.
DeviceAttributes Context::Attributes() const {
  DeviceAttributes device = provider_.QueryDevice();
  device.vendor_id = identity_.vendor_id;
  device.vendor_part_id = identity_.vendor_part_id;
  if (device.fw_ver == 0) device.fw_ver = identity_.fw_ver;
  return device;
}

absl::Status Context::GetContext(CommandCall& call) {
  if (objects_.async != nullptr) {
    return absl::InvalidArgumentError("the file has a context already");
  }
  auto queue = std::make_shared<EventQueue>(sizeof(ib_uverbs_async_event_desc));
  IBEMU_ASSIGN_OR_RETURN(
      const int fd, client_.GiveDescriptor(ContextClient::Events::kAsynchronous,
                                           call.caller, queue));
  objects_.async = std::move(queue);
  provider_.AddListener(*this);
  objects_.process = client_.MemoryOf(call.caller)->process();
  auto response = Blank<ib_uverbs_get_context_resp>();
  response.async_fd = static_cast<uint32_t>(fd);
  response.num_comp_vectors = kCompletionVectors;
  call.response = ToVector(response);
  return absl::OkStatus();
}

absl::Status Context::QueryDevice(CommandCall& call) {
  call.response = ToVector(Attributes());
  return absl::OkStatus();
}

absl::Status Context::QueryDeviceExtended(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_ex_query_device>(call.request);
  if (request.comp_mask != 0 || request.reserved != 0) {
    return absl::InvalidArgumentError("QUERY_DEVICE has no such option");
  }
  ib_uverbs_ex_query_device_resp response{};
  response.base = Attributes();
  response.response_length = sizeof response;
  response.device_cap_flags_ex = response.base.device_cap_flags;
  call.response = ToVector(response);
  return absl::OkStatus();
}

absl::Status Context::QueryPort(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_query_port>(call.request);
  IBEMU_ASSIGN_OR_RETURN(const PortAttributes attributes,
                         provider_.QueryPort(request.port_num));
  call.response = ToVector(attributes);
  return absl::OkStatus();
}

}  // namespace ibemu::verbs
