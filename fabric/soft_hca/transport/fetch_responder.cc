#include "fabric/soft_hca/transport/fetch_responder.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "fabric/soft_hca/transport/atomic_unit.h"
#include "verbs/parts/bounce_buffers.h"
#include "verbs/parts/memory_transfer.h"
#include "wire/psn.h"

namespace ibemu::fabric {

using Operation = Transport::Operation;
using Syndrome = Transport::Syndrome;

bool FetchResponder::Continue(const std::shared_ptr<ResponderStep>& step) {
  if (step->done) return true;
  if (step->reaching) return false;
  return step->fetch->IsAtomic() ? ContinueAtomic(step) : ContinueRead(step);
}

// Sends the next chunk of a response.
bool FetchResponder::ContinueRead(const std::shared_ptr<ResponderStep>& step) {
  const Transport& request = *step->fetch;
  const size_t size =
      std::min<size_t>(request.length - step->answered, verbs::kChunk);
  const auto range =
      qp_.keys.Find(request.key, qp_.init.pd, request.address + step->answered,
                    size, verbs::access::kRemoteRead);
  if (!range.ok()) {
    step->done = true;
    step->refusal = Syndrome::kAccessError;
    step->event = verbs::AsyncEventType::kQpAccessError;
    return true;
  }
  const verbs::Buffer buffer = qp_.bounces.Take(size);
  if (size == 0) {
    SendReadResponses(*step, buffer);
    step->done = true;
    return true;
  }
  step->reaching = true;
  verbs::MemoryTransfer transfer;
  transfer.Add(*range, buffer, 0);
  transfer.Read(
      qp_.guard.Wrap([this, step, buffer](const absl::Status& status) {
        step->reaching = false;
        if (!status.ok()) {
          step->done = true;
          step->status = status;
        } else {
          SendReadResponses(*step, buffer);
          step->done = step->answered == step->fetch->length;
        }
        listener_.OnStepReady();
      }));
  return false;
}

// Returns the target of an atomic operation.  It is a single range, because an
// address that is a multiple of its size cannot cross a page.
absl::StatusOr<verbs::MemoryRange> FetchResponder::TargetOf(
    const Transport& request) const {
  IBEMU_ASSIGN_OR_RETURN(
      const verbs::MemoryRanges ranges,
      qp_.keys.Find(request.key, qp_.init.pd, request.address, kAtomicBytes,
                    verbs::access::kRemoteAtomic));
  return ranges.front();
}

bool FetchResponder::ContinueAtomic(
    const std::shared_ptr<ResponderStep>& step) {
  if (step->repeats) {
    RepeatAtomic(*step);
    step->done = true;
    return true;
  }
  const Transport& request = *step->fetch;
  const auto range = TargetOf(request);
  if (!range.ok()) {
    step->done = true;
    step->refusal = Syndrome::kAccessError;
    step->event = verbs::AsyncEventType::kQpAccessError;
    return true;
  }
  step->reaching = true;
  qp_.atomics.Run(
      *range,
      {.compares = request.operation == Operation::kCompareSwap,
       .compare = request.compare,
       .swap_or_add = request.swap_or_add},
      [this, mark = qp_.guard.Now(), asked = step->fetch] {
        return mark.valid()
                   ? TargetOf(*asked).status()
                   : absl::PermissionDeniedError("its queue pair has gone");
      },
      qp_.guard.Wrap([this, step](const absl::StatusOr<uint64_t>& original) {
        OnAtomicDone(*step, original);
        listener_.OnStepReady();
      }));
  return false;
}

// The latest result with this number is the right one.  A repeated request that
// is too old gets no response.
void FetchResponder::RepeatAtomic(const ResponderStep& step) {
  const auto kept = std::find_if(results_.rbegin(), results_.rend(),
                                 [psn = step.psn](const AtomicResult& result) {
                                   return result.psn == psn;
                                 });
  if (kept != results_.rend()) SendAtomicResponse(kept->psn, kept->original);
}

void FetchResponder::OnAtomicDone(ResponderStep& step,
                                  const absl::StatusOr<uint64_t>& original) {
  step.done = true;
  if (absl::IsPermissionDenied(original.status())) {
    step.refusal = Syndrome::kAccessError;
    step.event = verbs::AsyncEventType::kQpAccessError;
  } else {
    step.status = original.status();
  }
  if (!original.ok()) return;
  results_.push_back({step.psn, *original});
  if (results_.size() > qp_.attributes.max_dest_rd_atomic) {
    results_.pop_front();
  }
  SendAtomicResponse(step.psn, *original);
}

void FetchResponder::SendReadResponses(ResponderStep& step,
                                       const verbs::Buffer& buffer) {
  const Transport& request = *step.fetch;
  const size_t mtu = link_.Mtu();
  auto packet = std::make_shared<Transport>();
  packet->operation = Operation::kReadResponse;
  packet->psn =
      wire::PsnAfter(request.psn, static_cast<uint32_t>(step.answered / mtu));
  packet->first = step.answered == 0;
  packet->message = buffer;
  packet->size = buffer->size();
  packet->packets = wire::PacketsFor(packet->size, mtu);
  packet->payload = static_cast<uint32_t>(mtu);
  step.answered += packet->size;
  packet->last = step.answered == request.length;
  link_.Transmit(std::move(packet));
}

void FetchResponder::SendAtomicResponse(uint32_t psn, uint64_t original) {
  auto packet = std::make_shared<Transport>();
  packet->operation = Operation::kAtomicResponse;
  packet->first = packet->last = true;
  packet->psn = psn;
  packet->original = original;
  link_.Transmit(std::move(packet));
}

}  // namespace ibemu::fabric
