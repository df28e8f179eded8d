#include "verbs/uverbs/cq_commands.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

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
  auto object =
      std::make_unique<CqObject>(self_, objects_.async, request.user_handle,
                                 objects_.process, std::move(channel));
  IBEMU_ASSIGN_OR_RETURN(object->cq, provider_.CreateCq(request.cqe, *object));
  auto response = Blank<ib_uverbs_create_cq_resp>();
  response.cqe = object->cq->size();
  CqObject& added = *object;
  response.cq_handle = objects_.cqs.Add(std::move(object));
  added.handle = response.cq_handle;
  call.response = ToVector(response);
  call.undo = [this, handle = response.cq_handle] {
    TakeBack(objects_.cqs, handle);
    if (objects_.cqs.Find(handle) == nullptr) OnGone(handle);
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
  OnGone(request.cq_handle);
  return absl::OkStatus();
}

void CqCommands::OnGone(uint32_t handle) {
  shared_.erase(handle);
  client_.OnCqGone(handle);
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

// The queue pair may be in the middle of something: it is not told that the
// client has taken earlier completions.
void CqCommands::OnArrival(CqObject& cq) {
  if (ClientCompletions* const own = client_.CompletionsOf(cq.handle);
      own != nullptr && own->is_open()) {
    if (!client_.MayTake()) own->Close();
    AddAll(cq, *own);
    if (own->taken() > own->room()) PollTakenSoon();
  }
  client_.OnArrival();
  EndPollsSoon();
}

// A client that gives no commands finds nothing more there until this was done.
void CqCommands::PollTakenSoon() {
  if (std::exchange(polls_taken_soon_, true)) return;
  timers_.RunIdle([this, self = self_] {
    if (*self == nullptr) return;
    polls_taken_soon_ = false;
    PollTaken();
  });
}

size_t CqCommands::TakenOf(const CqObject& cq) {
  ClientCompletions* const own = client_.CompletionsOf(cq.handle);
  return own == nullptr ? 0 : own->taken();
}

void CqCommands::OnDrop(CqObject& cq) {
  Withhold(cq);
  PollTaken(cq);
}

void CqCommands::PollTaken() {
  for (const uint32_t handle : shared_) {
    if (CqObject* const cq = objects_.cqs.Find(handle)) PollTaken(*cq);
  }
}

void CqCommands::PollTaken(CqObject& cq) {
  ClientCompletions* const own = client_.CompletionsOf(cq.handle);
  if (own == nullptr || own->taken() == 0) return;
  std::vector<WorkCompletion> taken(own->taken());
  own->OnPolled(cq.cq->Poll(taken));
  TellPromises(taken);
  AddAll(cq, *own);
}

void CqCommands::Withhold(CqObject& cq) {
  ClientCompletions* const own = client_.CompletionsOf(cq.handle);
  if (own != nullptr) own->Close();
}

// While it has to be seen when the client polls, it has to ask.
void CqCommands::Share(CqObject& cq) {
  ClientCompletions* const own = client_.PlaceFor(cq.handle);
  if (own == nullptr || cq.tells_of_old) return;
  own->Open();
  shared_.insert(cq.handle);
  AddAll(cq, *own);
}

void CqCommands::AddAll(const CqObject& cq, ClientCompletions& to) {
  std::array<WaitingCompletion, 8> next;
  size_t count = 0;
  do {
    const size_t room = to.room();
    if (!to.is_open()) return;
    count = cq.cq->Peek(to.size(),
                        std::span(next).first(std::min(next.size(), room)));
    for (const WaitingCompletion& one : std::span(next).first(count)) {
      const auto qp = HandleOfQp(one.completion.qp_num);
      to.Add(one, qp);
      // If it is of a message, a receive request is done.
      if (qp) client_.OnPromise(*qp, objects_.qps.Find(*qp));
    }
  } while (count == next.size());
  to.SetMore(cq.cq->Peek(to.size(), std::span(next).first(1)) != 0);
}

std::optional<uint32_t> CqCommands::HandleOfQp(uint32_t number) const {
  const auto known = objects_.qp_handles.find(number);
  if (known == objects_.qp_handles.end()) return std::nullopt;
  return known->second;
}

// Ends the polls when there is nothing else to do, because what is being done
// now may bring more completions.
void CqCommands::EndPollsSoon() {
  if (polls_.empty() || std::exchange(polls_end_soon_, true)) return;
  timers_.RunIdle([this, self = self_] {
    if (*self == nullptr) return;
    polls_end_soon_ = false;
    while (!polls_.empty()) EndPoll(polls_.begin()->first);
  });
}

absl::Status CqCommands::TakeCompletions(uint32_t handle, size_t most,
                                         std::vector<std::byte>& response) {
  IBEMU_ASSIGN_OR_RETURN(CqObject * cq, FindObject(objects_.cqs, handle));
  Withhold(*cq);
  PollTaken(*cq);
  if (cq->tells_of_old && cq->completions_delivered == cq->completions_told) {
    cq->tells_of_old = false;
    ++objects_.late_arms;
  }
  std::vector<WorkCompletion> completions(
      std::min<size_t>(most, cq->cq->size()));
  auto header = Blank<ib_uverbs_poll_cq_resp>();
  header.count = static_cast<uint32_t>(cq->cq->Poll(completions));
  completions.resize(header.count);
  if (cq->cq->empty()) cq->tells_of_old = false;
  TellPromises(completions);
  Share(*cq);
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
    const auto handle = HandleOfQp(last);
    if (handle) client_.OnPromise(*handle, objects_.qps.Find(*handle));
  }
}

absl::Status CqCommands::ReqNotifyCq(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_req_notify_cq>(call.request);
  IBEMU_ASSIGN_OR_RETURN(CqObject * cq,
                         FindObject(objects_.cqs, request.cq_handle));
  // What other threads take meanwhile would change the answer.
  Withhold(*cq);
  PollTaken(*cq);
  const bool had_some = !cq->cq->empty();
  const uint32_t told = cq->completions_told;
  cq->cq->RequestNotify(request.solicited_only != 0);
  // At once.
  if (cq->completions_told != told) cq->tells_of_old = had_some;
  Share(*cq);
  return absl::OkStatus();
}

}  // namespace ibemu::verbs
