#include "hca/mlx4/verbs/adapter_qp.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "hca/mlx4/core/qp_context.h"
#include "hca/mlx4/verbs/mlx4_srq.h"
#include "hca/mlx4/verbs/send_wqe.h"
#include "hca/mlx4/verbs/verbs_provider.h"
#include "verbs/parts/qp_transitions.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace attribute = verbs::qp_attribute;

using verbs::Names;
using State = verbs::QpState;

constexpr int kLeastLogCompletions = 7;  // a page's entries

}  // namespace

absl::Status AdapterQp::Allocate(uint32_t receives) {
  Resources& resources = provider_.resources();
  IBEMU_ASSIGN_OR_RETURN(
      rings_, WorkQueues::Create(resources, LogStrideOf(type_), receives));
  // There is room for the completions of all that can be posted, so none is
  // ever lost.
  const uint32_t completions =
      WorkQueues::kSends + (srq_ != nullptr ? srq_->slots() : receives);
  IBEMU_ASSIGN_OR_RETURN(
      completions_,
      Mlx4Cq::Create(resources,
                     std::max(LogOf(completions), kLeastLogCompletions),
                     provider_.eqn()));
  IBEMU_ASSIGN_OR_RETURN(number_, resources.TakeQps(1, 1));
  has_number_ = true;
  return absl::OkStatus();
}

void AdapterQp::Release() {
  rings_.reset();
  completions_.reset();
  if (std::exchange(has_number_, false)) {
    provider_.resources().ReturnQps(number_, 1);
  }
}

absl::Status AdapterQp::Modify(State from, State to,
                               const verbs::QpAttributes& named,
                               const verbs::QpAttributes& wanted) {
  Mlx4Adapter& adapter = provider_.resources().adapter();
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
  prm::QpContext context;
  rings_->Describe(context);
  SetAttributes(type_, wanted, adapter.firmware().caps().stat_rate_support,
                context);
  context.state = ContextState(to);
  context.local_qpn = number_;
  context.cqn_send = context.cqn_receive = completions_->number();
  if (srq_ != nullptr) {
    context.srq = true;
    context.srqn = srq_->number();
    // Other queue pairs take from it, too, so there is no number of credits to
    // tell the peer.
    context.invalid_credits = true;
  }
  const bool tell = to == State::kSendQueueDrain &&
                    Names(named, attribute::kNotifyDrained) &&
                    named.en_sqd_async_notify != 0;
  const uint32_t optional = OptionalOf(*opcode, named.qp_attr_mask);
  IBEMU_RETURN_IF_ERROR(
      adapter.Give(*opcode, QpMailbox(context, optional),
                   {.in = number_ | (tell ? prm::kSqdEvent : 0)}));
  running_ = true;
  return absl::OkStatus();
}

absl::Status AdapterQp::EnterError() {
  return provider_.resources()
      .commands()
      .Run(prm::Opcode::k2ErrQp, {.in = number_})
      .status();
}

std::optional<prm::QpContext> AdapterQp::Query() const {
  if (!running_) return std::nullopt;
  std::array<std::byte, prm::kQpContextInMailbox + wire::kBytes<prm::QpContext>>
      mailbox{};
  const absl::Status asked = provider_.resources().commands().Ask(
      prm::Opcode::kQueryQp, std::span(mailbox), {.in = number_});
  if (!asked.ok()) return std::nullopt;
  return wire::Decode<prm::QpContext>(
      std::span(mailbox).subspan(prm::kQpContextInMailbox));
}

void AdapterQp::TakeDown() {
  if (!running_) return;
  running_ = false;
  Mlx4Adapter& adapter = provider_.resources().adapter();
  // The receive request of a message that has partly come is handed back only
  // by the error state.
  if (srq_ != nullptr) {
    adapter.TakeDown(prm::Opcode::k2ErrQp, {.in = number_});
  }
  adapter.TakeDown(prm::Opcode::k2RstQp,
                   {.in = number_, .op = prm::kFromAnyState});
  while (const auto completion = completions_->Poll()) {
    if (srq_ != nullptr && !completion->entry.is_send) {
      srq_->Take(completion->entry.wqe_counter);
    }
  }
}

void AdapterQp::ResetRings() {
  if (rings_) rings_->Reset();
}

}  // namespace ibemu::hca::mlx4
