#include "verbs/uverbs/cq_commands.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "verbs/uverbs/responses.h"

namespace ibemu::verbs {
namespace {

// The longest time that an empty poll waits.  A message from a running client
// needs about so long to arrive; meanwhile, the client does nothing else, and
// on older kernels no other write() to the same open file is answered.
constexpr absl::Duration kLongestPoll = absl::Microseconds(30);

}  // namespace

CqCommands::CqCommands(CommandTable& table, Provider& provider,
                       ContextClient& client, Timers& timers,
                       ContextObjects& objects)
    : provider_(provider), client_(client), timers_(timers), objects_(objects) {
  table.Add<ib_uverbs_create_comp_channel, ib_uverbs_create_comp_channel_resp>(
      IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
      [this](CommandCall& call) { return CreateCompChannel(call); });
  table.Add<ib_uverbs_create_cq, ib_uverbs_create_cq_resp>(
      IB_USER_VERBS_CMD_CREATE_CQ,
      [this](CommandCall& call) { return CreateCq(call); });
  table.Add<ib_uverbs_resize_cq, uint32_t>(
      IB_USER_VERBS_CMD_RESIZE_CQ,
      [this](CommandCall& call) { return ResizeCq(call); });
  table.Add<ib_uverbs_destroy_cq, ib_uverbs_destroy_cq_resp>(
      IB_USER_VERBS_CMD_DESTROY_CQ,
      [this](CommandCall& call) { return DestroyCq(call); });
  table.Add<ib_uverbs_poll_cq, ib_uverbs_poll_cq_resp>(
      IB_USER_VERBS_CMD_POLL_CQ,
      [this](CommandCall& call) { return PollCq(call); });
  table.Add<ib_uverbs_req_notify_cq>(
      IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
      [this](CommandCall& call) { return ReqNotifyCq(call); });
}

CqCommands::~CqCommands() {
  *self_ = nullptr;
  for (const auto& [number, poll] : polls_) timers_.Cancel(poll.end);
}

absl::Status CqCommands::CreateCompChannel(CommandCall& call) {
  auto queue = std::make_shared<EventQueue>(sizeof(ib_uverbs_comp_event_desc));
  IBEMU_ASSIGN_OR_RETURN(
      const int fd, client_.GiveDescriptor(ContextClient::Events::kCompletion,
                                           call.caller, queue));
  channels_[fd] = queue;
  call.response =
      ToVector(ib_uverbs_create_comp_channel_resp{static_cast<uint32_t>(fd)});
  return absl::OkStatus();
}

absl::Status CqCommands::CreateCq(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_create_cq>(call.request);
  if (request.comp_vector >= kCompletionVectors) {
    return absl::InvalidArgumentError("no such completion vector");
  }
  std::shared_ptr<EventQueue> channel;
  if (request.comp_channel >= 0) {
    const auto known = channels_.find(request.comp_channel);
    if (known != channels_.end()) channel = known->second.lock();
    if (channel == nullptr || channel->closed()) {
      return absl::InvalidArgumentError("not a completion channel");
    }
  }
  auto on_arrival = [self = self_](uint32_t handle) {
    if (*self != nullptr) (*self)->OnArrival(handle);
  };
  auto object = std::make_unique<CqObject>(objects_.async, request.user_handle,
                                           objects_.process, std::move(channel),
                                           std::move(on_arrival));
  IBEMU_ASSIGN_OR_RETURN(object->cq, provider_.CreateCq(request.cqe, *object));
  auto response = Blank<ib_uverbs_create_cq_resp>();
  response.cqe = object->cq->size();
  CqObject& added = *object;
  response.cq_handle = objects_.cqs.Add(std::move(object));
  added.handle = response.cq_handle;
  call.response = ToVector(response);
  call.undo = [this, handle = response.cq_handle] {
    TakeBack(objects_.cqs, handle);
    client_.OnUnknownQueue(handle);
  };
  return absl::OkStatus();
}

absl::Status CqCommands::ResizeCq(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_resize_cq>(call.request);
  IBEMU_ASSIGN_OR_RETURN(CqObject * cq,
                         FindObject(objects_.cqs, request.cq_handle));
  IBEMU_RETURN_IF_ERROR(cq->cq->Resize(request.cqe));
  auto response = Blank<ib_uverbs_resize_cq_resp>();
  response.cqe = cq->cq->size();
  call.response = ToVector(response);
  return absl::OkStatus();
}

absl::Status CqCommands::DestroyCq(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_destroy_cq>(call.request);
  IBEMU_ASSIGN_OR_RETURN(const CqObject* cq,
                         FindObject(objects_.cqs, request.cq_handle));
  if (cq->users != 0) return StillUsed();
  call.response = ToVector(ib_uverbs_destroy_cq_resp{
      .comp_events_reported = cq->completions_delivered,
      .async_events_reported = cq->events.delivered()});
  objects_.cqs.Remove(request.cq_handle);
  client_.OnUnknownQueue(request.cq_handle);
  return absl::OkStatus();
}

// A client that polls in a loop takes the processor from the process that it
// waits for, where there are few processors.  A poll that finds nothing is
// therefore answered only when a completion has arrived in any queue of the
// context, or a little later.
absl::Status CqCommands::PollCq(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_poll_cq>(call.request);
  const size_t room =
      (call.room - sizeof(ib_uverbs_poll_cq_resp)) / sizeof(WorkCompletion);
  const size_t most = std::min<size_t>(request.ne, room);
  IBEMU_RETURN_IF_ERROR(
      TakeCompletions(request.cq_handle, most, call.response));
  if (most == 0 || call.response.size() > sizeof(ib_uverbs_poll_cq_resp)) {
    return absl::OkStatus();
  }
  const uint64_t number = ++last_poll_;
  polls_.emplace(number,
                 Poll{.cq = request.cq_handle,
                      .most = most,
                      .address = call.address,
                      .done = std::exchange(call.done, nullptr),
                      .end = timers_.RunAfter(
                          kLongestPoll, [this, number] { EndPoll(number); })});
  return absl::OkStatus();
}

void CqCommands::EndPoll(uint64_t number) {
  Poll poll = std::move(polls_.extract(number).mapped());
  timers_.Cancel(poll.end);
  Answer answer;
  answer.address = poll.address;
  answer.status = TakeCompletions(poll.cq, poll.most, answer.response);
  poll.done(std::move(answer));
}

void CqCommands::OnArrival(uint32_t handle) {
  client_.OnUnknownQueue(handle);
  EndPollsSoon();
}

// Ends the polls when there is nothing else to do, because what is being done
// now may bring more completions.
void CqCommands::EndPollsSoon() {
  if (polls_.empty() || std::exchange(polls_end_soon_, true)) return;
  timers_.RunIdle([self = self_] {
    if (*self == nullptr) return;
    (*self)->polls_end_soon_ = false;
    while (!(*self)->polls_.empty()) {
      (*self)->EndPoll((*self)->polls_.begin()->first);
    }
  });
}

absl::Status CqCommands::TakeCompletions(uint32_t handle, size_t most,
                                         std::vector<std::byte>& response) {
  IBEMU_ASSIGN_OR_RETURN(CqObject * cq, FindObject(objects_.cqs, handle));
  if (cq->tells_of_old && cq->completions_delivered == cq->completions_told) {
    cq->tells_of_old = false;
    ++objects_.late_arms;
  }
  std::vector<WorkCompletion> completions(
      std::min<size_t>(most, cq->cq->size()));
  auto header = Blank<ib_uverbs_poll_cq_resp>();
  header.count = static_cast<uint32_t>(cq->cq->Poll(completions));
  completions.resize(header.count);
  if (cq->cq->empty()) {
    cq->tells_of_old = false;
    client_.OnEmptyQueue(handle);
  }
  TellPromises(completions);
  response = ToVector(header);
  for (const WorkCompletion& completion : completions) {
    const Bytes bytes = AsBytes(completion);
    response.insert(response.end(), bytes.begin(), bytes.end());
  }
  return absl::OkStatus();
}

// Completions make the queues that they come from emptier.
void CqCommands::TellPromises(std::span<const WorkCompletion> completions) {
  uint32_t last = 0;  // told of; no program has queue pair 0
  for (const WorkCompletion& completion : completions) {
    if (completion.qp_num == last) continue;
    last = completion.qp_num;
    const auto handle = objects_.qp_handles.find(last);
    if (handle == objects_.qp_handles.end()) continue;
    client_.OnPromise(handle->second, objects_.qps.Find(handle->second));
  }
}

absl::Status CqCommands::ReqNotifyCq(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_req_notify_cq>(call.request);
  IBEMU_ASSIGN_OR_RETURN(CqObject * cq,
                         FindObject(objects_.cqs, request.cq_handle));
  const bool had_some = !cq->cq->empty();
  const uint32_t told = cq->completions_told;
  cq->cq->RequestNotify(request.solicited_only != 0);
  // At once.
  if (cq->completions_told != told) cq->tells_of_old = had_some;
  return absl::OkStatus();
}

}  // namespace ibemu::verbs
