#include "hca/mlx4/verbs/mlx4_queue_pair.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "hca/mlx4/core/qp_context.h"
#include "hca/mlx4/verbs/mlx4_srq.h"
#include "hca/mlx4/verbs/verbs_provider.h"
#include "verbs/parts/device_limits.h"
#include "verbs/parts/qp_transitions.h"
#include "wire/types.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace attribute = verbs::qp_attribute;

using verbs::Names;

}  // namespace

absl::StatusOr<std::unique_ptr<Mlx4QueuePair>> Mlx4QueuePair::Create(
    std::shared_ptr<VerbsProvider> provider, const verbs::QpInit& init,
    verbs::ObjectListener& listener) {
  std::unique_ptr<Mlx4QueuePair> qp(
      new Mlx4QueuePair(std::move(provider), init, listener));
  IBEMU_RETURN_IF_ERROR(qp->Allocate());
  return qp;
}

Mlx4QueuePair::Mlx4QueuePair(std::shared_ptr<VerbsProvider> provider,
                             const verbs::QpInit& init,
                             verbs::ObjectListener& listener)
    : core_(std::move(provider), init, listener, [this] { Fail(); }) {}

Mlx4QueuePair::~Mlx4QueuePair() {
  core_.life.End();
  if (!core_.gone) {
    LeaveGroups();
    core_.adapter_qp.TakeDown();
  }
  Forget();
  core_.adapter_qp.Release();
  core_.provider->Forget(*this);
}

absl::Status Mlx4QueuePair::Allocate() {
  const uint64_t process = static_cast<const Mlx4Pd*>(core_.init.pd)->process;
  IBEMU_RETURN_IF_ERROR(sends_.TakeShare(process));
  IBEMU_RETURN_IF_ERROR(receives_.TakeShare(process));
  IBEMU_RETURN_IF_ERROR(core_.adapter_qp.Allocate(
      core_.srq() != nullptr
          ? 0
          : std::max(core_.init.capacity.receive_requests, 1u)));
  core_.provider->Add(*this);
  core_.adapter_qp.completions().Arm();
  return absl::OkStatus();
}

absl::Status Mlx4QueuePair::Modify(const verbs::QpAttributes& attributes) {
  // What has failed until now belongs to the state that is left; what came
  // before a reset is not reported.
  const bool resets =
      Names(attributes, attribute::kState) &&
      attributes.qp_state == static_cast<uint32_t>(State::kReset);
  if (!resets) PollCompletions();
  const State from = core_.state;
  IBEMU_ASSIGN_OR_RETURN(const State to,
                         verbs::NextState(core_.init.type, from, attributes));
  IBEMU_RETURN_IF_ERROR(verbs::CheckQpAttributes(
      core_.provider->QueryDevice(), core_.provider->gids(), attributes));
  if (Names(attributes, attribute::kAlternatePath) ||
      Names(attributes, attribute::kMigrationState)) {
    return absl::UnimplementedError("there is no path migration");
  }
  if (core_.gone) return absl::UnavailableError("the adapter is gone");
  if (to == State::kReset) {
    core_.adapter_qp.TakeDown();
    Forget();
    // Events from before the reset do not belong to the time after it.
    core_.provider->resources().ReadEvents();
    return absl::OkStatus();
  }
  verbs::QpAttributes wanted = core_.attributes;
  verbs::TakeNamed(attributes, wanted);
  IBEMU_RETURN_IF_ERROR(core_.adapter_qp.Modify(from, to, attributes, wanted));
  core_.attributes = wanted;
  core_.state = to;
  if (to == State::kError) EnterError();
  receives_.Pump();
  sends_.Pump();
  return absl::OkStatus();
}

verbs::QpAttributes Mlx4QueuePair::Query() const {
  verbs::QpAttributes result = core_.attributes;
  State state = core_.state;
  if (const auto context = core_.adapter_qp.Query()) {
    state = StateOf(context->state);
    result.rq_psn = context->next_receive_psn;
    result.sq_psn = context->next_send_psn;
    result.sq_draining = context->state == prm::QpContextState::kSqDraining
                             ? uint8_t{1}
                             : uint8_t{0};
  }
  result.qp_state = result.cur_qp_state = static_cast<uint32_t>(state);
  return result;
}

void Mlx4QueuePair::LeaveGroups() {
  for (const auto& [gid, lid] : groups_) {
    core_.provider->DetachMulticast(gid, number());
  }
  groups_.clear();
}

// Makes the queue pair like a new one: what was posted is forgotten.  REQUIRES:
// the adapter does not have it any more.
void Mlx4QueuePair::Forget() {
  core_.life.BeginAnew();
  core_.ForgetCompletions();
  core_.told_of_loss = false;
  core_.state = State::kReset;
  core_.attributes = {};
  sends_.Clear();
  receives_.Clear();
  if (!core_.gone) StopWaiting();
  core_.adapter_qp.ResetRings();
}

void Mlx4QueuePair::StopWaiting() {
  sends_.StopWaiting();
  receives_.StopWaiting();
}

// The adapter flushes the requests that it has; the rest are flushed after
// them.
void Mlx4QueuePair::EnterError() {
  core_.state = State::kError;
  sends_.FlushUnposted();
  receives_.Flush();
}

void Mlx4QueuePair::OnRemoved() {
  if (std::exchange(core_.gone, true)) return;
  core_.adapter_qp.OnGone();
  core_.life.BeginAnew();
  StopWaiting();
  if (core_.state == State::kReset) return;
  core_.state = State::kError;
  sends_.Flush();
  receives_.FlushArrivals();
  receives_.Flush();
}

// Puts the queue pair into the error state because of an error that the adapter
// does not know of.
void Mlx4QueuePair::Fail() {
  if (core_.broken()) return;
  // If that fails the adapter is dying, which is reported elsewhere.
  if (!core_.gone) core_.adapter_qp.EnterError().IgnoreError();
  EnterError();
}

void Mlx4QueuePair::OnEvent(verbs::AsyncEventType type) {
  using enum verbs::AsyncEventType;
  if (core_.state == State::kReset) return;  // the event is from before a reset
  if (type == kQpFatal || type == kQpRequestError || type == kQpAccessError) {
    EnterError();
  }
  if (type == kLastWqeReached) return receives_.TellOfLastRequest();
  core_.listener.OnEvent(type);
}

// There is no way out of this state: the adapter's completion queue has failed
// for good.
void Mlx4QueuePair::OnCqError() {
  if (core_.gone || core_.state == State::kReset) return;
  LeaveGroups();
  core_.adapter_qp.TakeDown();
  OnRemoved();
  core_.listener.OnEvent(verbs::AsyncEventType::kQpFatal);
}

void Mlx4QueuePair::OnGone() {
  if (!core_.gone) {
    core_.adapter_qp.TakeDown();
    OnRemoved();
  }
  core_.adapter_qp.Release();
}

void Mlx4QueuePair::OnCompletionEvent() {
  core_.adapter_qp.completions().OnEvent();
  PollCompletions();
}

// The queue is armed before the last pass, so a completion that comes after
// that pass makes an event.
void Mlx4QueuePair::PollCompletions() {
  if (core_.gone) return;
  core_.solicited.Forget();
  Mlx4Cq& completions = core_.adapter_qp.completions();
  for (bool armed = false;; armed = true) {
    while (const auto completion = completions.Poll()) {
      OnCompletion(*completion, completions.index());
    }
    if (armed) return;
    completions.Arm();
  }
}

void Mlx4QueuePair::OnCompletion(const Completion& completion, uint32_t index) {
  if (completion.error) {
    // Without a reliable connection, a send that fails stops those behind it,
    // and nothing else.
    const bool sends_only =
        core_.init.type != verbs::QpType::kRc && completion.entry.is_send;
    if (!sends_only) {
      core_.state = State::kError;
    } else if (core_.state == State::kReadyToSend) {
      core_.state = State::kSendQueueError;
    }
  }
  if (completion.entry.is_send) {
    sends_.OnCompletion(completion);
  } else {
    receives_.OnCompletion(completion, index);
  }
  sends_.FlushUnposted();
  receives_.Flush();
}

absl::Status Mlx4QueuePair::AttachMulticast(const verbs::GidBytes& gid,
                                            uint16_t lid) {
  constexpr uint8_t kMulticastGid = 0xff;
  if (!core_.is_datagram() || gid[0] != kMulticastGid ||
      !wire::IsMulticast(wire::Lid{lid})) {
    return absl::InvalidArgumentError("no datagrams, or no multicast address");
  }
  if (core_.gone) return absl::UnavailableError("the adapter is gone");
  IBEMU_RETURN_IF_ERROR(core_.provider->AttachMulticast(gid, number()));
  groups_.emplace(gid, lid);
  return absl::OkStatus();
}

// The adapter knows groups by GID, so the queue pair stays a member while it is
// attached by another LID.
void Mlx4QueuePair::DetachMulticast(const verbs::GidBytes& gid, uint16_t lid) {
  if (groups_.erase({gid, lid}) == 0 || core_.gone) return;
  const bool other = std::ranges::any_of(
      groups_, [&gid](const auto& group) { return group.first == gid; });
  if (!other) core_.provider->DetachMulticast(gid, number());
}

}  // namespace ibemu::hca::mlx4
