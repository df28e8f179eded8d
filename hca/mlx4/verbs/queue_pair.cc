#include "hca/mlx4/verbs/queue_pair.h"

#include <algorithm>
#include <array>
#include <span>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "hca/mlx4/core/qp_context.h"
#include "hca/mlx4/verbs/send_wqe.h"
#include "hca/mlx4/verbs/shared_receive_queue.h"
#include "hca/mlx4/verbs/verbs_provider.h"
#include "hca/prm/mlx4_completion.h"
#include "verbs/parts/device_limits.h"
#include "verbs/parts/qp_transitions.h"
#include "verbs/wc_status.h"
#include "wire/types.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace attribute = verbs::qp_attribute;

using verbs::Names;

constexpr int kLeastLogCompletions = 7;  // a page's entries

}  // namespace

absl::StatusOr<std::unique_ptr<QueuePair>> QueuePair::Create(
    std::shared_ptr<VerbsProvider> provider, const verbs::QpInit& init,
    verbs::ObjectListener& listener) {
  std::unique_ptr<QueuePair> qp(
      new QueuePair(std::move(provider), init, listener));
  IBEMU_RETURN_IF_ERROR(qp->Allocate());
  return qp;
}

QueuePair::QueuePair(std::shared_ptr<VerbsProvider> provider,
                     const verbs::QpInit& init, verbs::ObjectListener& listener)
    : provider_(std::move(provider)),
      init_(init),
      listener_(listener),
      pending_(init.capacity.receive_requests, init.capacity.receive_sges) {}

QueuePair::~QueuePair() {
  *self_ = nullptr;
  if (!gone_) {
    LeaveGroups();
    TakeDown();
  }
  Forget();
  ReleaseHardware();
  provider_->Forget(*this);
}

absl::Status QueuePair::Allocate() {
  Resources& resources = provider_->resources();
  const uint64_t process =
      static_cast<const ProtectionDomain*>(init_.pd)->process;
  IBEMU_ASSIGN_OR_RETURN(send_share_,
                         provider_->send_memory().ShareOf(process));
  if (srq() == nullptr) {
    IBEMU_ASSIGN_OR_RETURN(receive_share_,
                           provider_->receive_memory().ShareOf(process));
  }
  const uint32_t receives =
      srq() != nullptr ? 0 : std::max(init_.capacity.receive_requests, 1u);
  IBEMU_ASSIGN_OR_RETURN(
      queues_,
      WorkQueues::Create(resources, LogStrideOf(init_.type), receives));
  // There is room for the completions of all that can be posted, so none is
  // ever lost.
  const uint32_t completions =
      WorkQueues::kSends + (srq() != nullptr ? srq()->slots() : receives);
  IBEMU_ASSIGN_OR_RETURN(
      completions_,
      CompletionQueue::Create(
          resources, std::max(LogOf(completions), kLeastLogCompletions),
          provider_->eqn()));
  IBEMU_ASSIGN_OR_RETURN(number_, resources.TakeQps(1, 1));
  has_number_ = true;
  provider_->Add(*this);
  completions_->Arm();
  return absl::OkStatus();
}

SharedReceiveQueue* QueuePair::srq() const {
  return static_cast<SharedReceiveQueue*>(init_.srq);
}

verbs::CompletionQueue& QueuePair::send_cq() const {
  return static_cast<verbs::CompletionQueue&>(*init_.send_cq);
}

verbs::CompletionQueue& QueuePair::receive_cq() const {
  return static_cast<verbs::CompletionQueue&>(*init_.receive_cq);
}

absl::Status QueuePair::Modify(const verbs::QpAttributes& attributes) {
  // What has failed until now belongs to the state that is left; what came
  // before a reset is not reported.
  const bool resets =
      Names(attributes, attribute::kState) &&
      attributes.qp_state == static_cast<uint32_t>(State::kReset);
  if (!resets) PollCompletions();
  const State from = state_;
  IBEMU_ASSIGN_OR_RETURN(const State to,
                         verbs::NextState(init_.type, from, attributes));
  IBEMU_RETURN_IF_ERROR(verbs::CheckQpAttributes(
      provider_->QueryDevice(), provider_->gids(), attributes));
  if (Names(attributes, attribute::kAlternatePath) ||
      Names(attributes, attribute::kMigrationState)) {
    return absl::UnimplementedError("there is no path migration");
  }
  if (gone_) return absl::UnavailableError("the adapter is gone");
  if (to == State::kReset) {
    TakeDown();
    Forget();
    // Events from before the reset do not belong to the time after it.
    provider_->resources().ReadEvents();
    return absl::OkStatus();
  }
  IBEMU_RETURN_IF_ERROR(Command(from, to, attributes));
  verbs::TakeNamed(attributes, attributes_);
  state_ = to;
  if (to == State::kError) EnterError();
  PumpReceives();
  Pump();
  return absl::OkStatus();
}

absl::Status QueuePair::Command(State from, State to,
                                const verbs::QpAttributes& attributes) {
  Adapter& adapter = provider_->resources().adapter();
  const auto opcode = TransitionOf(from, to);
  if (!opcode || (from == State::kReset && to == State::kError)) {
    // A queue pair that the adapter does not know yet has no error state.
    return absl::UnimplementedError(
        absl::StrFormat("the adapter does not lead from state %d to %d",
                        static_cast<int>(from), static_cast<int>(to)));
  }
  if (to == State::kError) {
    return adapter.commands().Run(*opcode, {.in = number_}).status();
  }
  verbs::QpAttributes wanted = attributes_;
  verbs::TakeNamed(attributes, wanted);
  prm::QpContext context;
  queues_->Describe(context);
  SetAttributes(init_.type, wanted, adapter.firmware().caps().stat_rate_support,
                context);
  context.state = ContextState(to);
  context.local_qpn = number_;
  context.cqn_send = context.cqn_receive = completions_->number();
  if (srq() != nullptr) {
    context.srq = true;
    context.srqn = srq()->number();
    // Other queue pairs take from it, too, so there is no number of credits to
    // tell the peer.
    context.invalid_credits = true;
  }
  const bool tell = to == State::kSendQueueDrain &&
                    Names(attributes, attribute::kNotifyDrained) &&
                    attributes.en_sqd_async_notify != 0;
  const uint32_t optional = OptionalOf(*opcode, attributes.qp_attr_mask);
  IBEMU_RETURN_IF_ERROR(
      adapter.Give(*opcode, QpMailbox(context, optional),
                   {.in = number_ | (tell ? prm::kSqdEvent : 0)}));
  running_ = true;
  return absl::OkStatus();
}

verbs::QpAttributes QueuePair::Query() const {
  verbs::QpAttributes result = attributes_;
  State state = state_;
  if (running_ && !gone_) {
    std::array<std::byte,
               prm::kQpContextInMailbox + wire::kBytes<prm::QpContext>>
        mailbox{};
    const absl::Status asked = provider_->resources().commands().Ask(
        prm::Opcode::kQueryQp, std::span(mailbox), {.in = number_});
    if (asked.ok()) {
      const auto context = wire::Decode<prm::QpContext>(
          std::span(mailbox).subspan(prm::kQpContextInMailbox));
      state = StateOf(context.state);
      result.rq_psn = context.next_receive_psn;
      result.sq_psn = context.next_send_psn;
      result.sq_draining =
          context.state == prm::QpState::kSqDraining ? uint8_t{1} : uint8_t{0};
    }
  }
  result.qp_state = result.cur_qp_state = static_cast<uint32_t>(state);
  return result;
}

void QueuePair::LeaveGroups() {
  for (const auto& [gid, lid] : groups_) {
    provider_->DetachMulticast(gid, number_);
  }
  groups_.clear();
}

// Takes the queue pair from the adapter, which is cut off if it does not give
// it up.  In either case the memory of its requests is free afterwards.
void QueuePair::TakeDown() {
  if (!running_) return;
  running_ = false;
  Adapter& adapter = provider_->resources().adapter();
  // The receive request of a message that has partly come is handed back only
  // by the error state.
  if (srq() != nullptr) {
    adapter.TakeDown(prm::Opcode::k2ErrQp, {.in = number_});
  }
  adapter.TakeDown(prm::Opcode::k2RstQp,
                   {.in = number_, .op = prm::kFromAnyState});
  while (const auto completion = completions_->Poll()) {
    if (srq() != nullptr && !completion->entry.is_send) {
      srq()->Take(completion->entry.wqe_counter);
    }
  }
}

// Makes the queue pair like a new one: what was posted is forgotten.  REQUIRES:
// the adapter does not have it any more.
void QueuePair::Forget() {
  ++life_;
  state_ = State::kReset;
  attributes_ = {};
  // Memory whose data is still on its way to the client continues to count as
  // the client's, so a client gets no more memory by a reset.
  sends_.clear();
  sent_ = posted_ = begun_ = 0;
  sends_wait_ = receives_wait_ = false;
  while (pending_.Take()) continue;
  posted_receives_.clear();
  if (srq() != nullptr) srq()->EndArriving(arrivals_.size());
  arrivals_.clear();
  if (!gone_) StopWaiting();
  if (queues_) queues_->Reset();
}

// Cancels the waiting for memory.
void QueuePair::StopWaiting() {
  provider_->send_memory().StopWaiting(this);
  provider_->receive_memory().StopWaiting(this);
}

void QueuePair::ReleaseHardware() {
  queues_.reset();
  completions_.reset();
  if (std::exchange(has_number_, false)) {
    provider_->resources().ReturnQps(number_, 1);
  }
}

// The adapter flushes the requests that it has; the rest are flushed after
// them.
void QueuePair::EnterError() {
  state_ = State::kError;
  FlushUnposted();
  FlushReceives();
}

void QueuePair::OnRemoved() {
  if (std::exchange(gone_, true)) return;
  running_ = false;
  ++life_;
  StopWaiting();
  if (state_ == State::kReset) return;
  state_ = State::kError;
  FlushSends();
  for (const auto& arrival : arrivals_) {
    if (std::exchange(arrival->done, true)) continue;
    arrival->completion.status = verbs::wc_status::kFlushed;
  }
  FlushReceives();
}

// Puts the queue pair into the error state because of an error that the adapter
// does not know of.
void QueuePair::Fail() {
  if (Broken()) return;
  if (!gone_) {
    provider_->resources()
        .commands()
        .Run(prm::Opcode::k2ErrQp, {.in = number_})
        .status()
        .IgnoreError();  // then it is dying, which is reported elsewhere
  }
  EnterError();
}

void QueuePair::OnEvent(verbs::EventType type) {
  using enum verbs::EventType;
  if (state_ == State::kReset) return;  // the event is from before a reset
  if (type == kQpFatal || type == kQpRequestError || type == kQpAccessError) {
    EnterError();
  }
  listener_.OnEvent(type);
}

// There is no way out of this state: the adapter's completion queue has failed
// for good.
void QueuePair::OnCqError() {
  if (gone_ || state_ == State::kReset) return;
  LeaveGroups();
  TakeDown();
  OnRemoved();
  listener_.OnEvent(verbs::EventType::kQpFatal);
}

void QueuePair::OnGone() {
  if (!gone_) {
    TakeDown();
    OnRemoved();
  }
  ReleaseHardware();
}

void QueuePair::OnCompletionEvent() {
  completions_->OnEvent();
  PollCompletions();
}

// The queue is armed before the last pass, so a completion that comes after
// that pass makes an event.
void QueuePair::PollCompletions() {
  if (gone_) return;
  for (bool armed = false;; armed = true) {
    const uint32_t known = completions_->end();
    const std::optional<uint32_t> solicited = SolicitedIndex(known);
    bool may_be = !solicited;
    while (const auto completion = completions_->Poll()) {
      const uint32_t index = completions_->index();
      OnCompletion(*completion, may_be || solicited == index);
      may_be = may_be || index == known;
    }
    if (armed) return;
    completions_->Arm();
  }
}

// Returns the index of the last solicited completion; none if any completion
// may be solicited.  Entries don't tell whether they were solicited.  The
// queue's context tells which was the last one that was, of those before `end`
// and maybe of later ones; it is queried only if somebody waits for solicited
// completions.  A client that begins to wait before the message is in its
// memory is notified once too often rather than not at all.
std::optional<uint32_t> QueuePair::SolicitedIndex(uint32_t end) const {
  if (!receive_cq().WantsSolicited() || end == completions_->index()) {
    return std::nullopt;
  }
  const auto context = provider_->resources().commands().Ask<prm::CqContext>(
      prm::Opcode::kQueryCq, {.in = completions_->number()});
  if (!context.ok()) return std::nullopt;
  return context->solicit_producer_index;
}

void QueuePair::OnCompletion(const Completion& completion, bool solicited) {
  if (completion.error) {
    // Without a reliable connection, a send that fails stops those behind it,
    // and nothing else.
    const bool sends_only =
        init_.type != verbs::QpType::kRc && completion.entry.is_send;
    if (!sends_only) {
      state_ = State::kError;
    } else if (state_ == State::kReadyToSend) {
      state_ = State::kSendQueueError;
    }
  }
  if (completion.entry.is_send) {
    OnSent(completion);
  } else {
    OnReceived(completion, solicited);
  }
  FlushUnposted();
  FlushReceives();
}

absl::Status QueuePair::AttachMulticast(const verbs::GidBytes& gid,
                                        uint16_t lid) {
  constexpr uint8_t kMulticastGid = 0xff;
  if (!is_datagram() || gid[0] != kMulticastGid ||
      !wire::IsMulticast(wire::Lid{lid})) {
    return absl::InvalidArgumentError("no datagrams, or no multicast address");
  }
  if (gone_) return absl::UnavailableError("the adapter is gone");
  IBEMU_RETURN_IF_ERROR(provider_->AttachMulticast(gid, number_));
  groups_.emplace(gid, lid);
  return absl::OkStatus();
}

// The adapter knows groups by GID, so the queue pair stays a member while it is
// attached by another LID.
void QueuePair::DetachMulticast(const verbs::GidBytes& gid, uint16_t lid) {
  if (groups_.erase({gid, lid}) == 0 || gone_) return;
  const bool other = std::ranges::any_of(
      groups_, [&gid](const auto& group) { return group.first == gid; });
  if (!other) provider_->DetachMulticast(gid, number_);
}

}  // namespace ibemu::hca::mlx4
