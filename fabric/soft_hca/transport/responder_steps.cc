#include "fabric/soft_hca/transport/responder_steps.h"

#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace ibemu::fabric {

using Syndrome = Transport::Syndrome;

void ResponderSteps::Add(ResponderStep step) {
  steps_.push_back(std::make_shared<ResponderStep>(std::move(step)));
  Run();
}

void ResponderSteps::Write(verbs::MemoryTransfer transfer, ResponderStep made) {
  const std::shared_ptr<ResponderStep> step =
      steps_.emplace_back(std::make_shared<ResponderStep>(std::move(made)));
  if (transfer.empty()) {
    step->done = true;
    return Run();
  }
  const size_t size = transfer.size();
  writing_bytes_ += size;
  transfer.Write(qp_.guard.Wrap([this, step, size](const absl::Status& status) {
    writing_bytes_ -= size;
    step->done = true;
    step->status = status;
    Run();
  }));
}

// Finishes steps, in the order in which they started.
void ResponderSteps::Run() {
  while (!steps_.empty()) {
    const std::shared_ptr<ResponderStep> step = steps_.front();
    if (step->fetch != nullptr && !fetches_.Continue(step)) return;
    if (!step->done) return;
    steps_.pop_front();
    if (!step->status.ok()) return Fail(*step);
    if ((step->completion && !Complete(*step)) || step->breaks) {
      return link_.EnterError("as a receive request failed");
    }
    if (step->refusal) {
      Acknowledge(*step->refusal, step->psn);
      if (*step->refusal == Syndrome::kRnrNak ||
          *step->refusal == Syndrome::kSequenceError) {
        continue;
      }
      if (step->event) qp_.listener.OnEvent(*step->event);
      return link_.EnterError(RefusalText());
    }
    if (step->acknowledge) Acknowledge(Syndrome::kAck, step->psn);
  }
}

// If the process has ended (Unavailable), there is no one to notify, and peers
// see what they would see if it had already closed the queue pair.  Datagrams
// after a failed one are received all the same.  An event tells of the error if
// no completion does.
void ResponderSteps::Fail(const ResponderStep& step) {
  if (absl::IsUnavailable(step.status)) {
    return link_.EnterError("as its process has ended");
  }
  if (step.completion) {
    verbs::WorkCompletion failed = *step.completion;
    failed.status = verbs::wc_status::kLocalProtection;
    ++qp_.counters.resp_cqe_error;
    Push(failed, false);
  }
  if (qp_.init.type == verbs::QpType::kUd) return Run();
  if (qp_.IsReliable()) Acknowledge(Syndrome::kOperationError, step.psn);
  if (step.receives) {
    flushed_status_ = verbs::wc_status::kLocalProtection;
  } else if (!step.completion) {
    qp_.listener.OnEvent(verbs::AsyncEventType::kQpAccessError);
  }
  link_.EnterError("as its memory could not be written");
}

// Whoever added the step has noted what is wrong with the request.
std::string ResponderSteps::RefusalText() const {
  const Incident* const denied =
      qp_.history.Latest(Incident::Kind::kDenied, absl::InfinitePast());
  return denied == nullptr
             ? "as it refused a request of its peer"
             : "as it refused a request of its peer: " + denied->text;
}

bool ResponderSteps::Complete(const ResponderStep& step) {
  verbs::WorkCompletion completion = *step.completion;
  CompletionFate fate;
  if (completion.status == verbs::wc_status::kSuccess) {
    fate = link_.FateOf(WorkQueue::kReceive);
  }
  if (!fate.fault.empty()) {
    qp_.history.NoteFault(step.psn, fate.fault,
                          absl::StrFormat("%s work request %d (RECV)",
                                          fate.Deed(), completion.wr_id));
  }
  if (fate.status != 0) {
    completion.status = fate.status;
    completion.vendor_err = fate.vendor_err;
    qp_.history.NoteFailure({.id = completion.wr_id,
                             .status = fate.status,
                             .psn = step.psn,
                             .what = "RECV"});
  }
  if (completion.status != verbs::wc_status::kSuccess) {
    ++qp_.counters.resp_cqe_error;
  }
  if (!fate.lost) Push(completion, step.solicited, fate.delay);
  return fate.status == 0;
}

void ResponderSteps::Push(const verbs::WorkCompletion& completion,
                          bool solicited, absl::Duration delay) {
  if (!late_.Delays(delay)) return PushNow(completion, solicited);
  late_.Add(delay,
            [this, completion, solicited] { PushNow(completion, solicited); });
}

void ResponderSteps::PushNow(const verbs::WorkCompletion& completion,
                             bool solicited) {
  if (!qp_.receive_cq().Push(completion, solicited)) link_.OnLostCompletion();
}

void ResponderSteps::Acknowledge(Syndrome syndrome, uint32_t psn) {
  auto packet = std::make_shared<Transport>();
  packet->operation = Transport::Operation::kAcknowledge;
  packet->syndrome = syndrome;
  packet->rnr_timer = qp_.attributes.min_rnr_timer;
  packet->psn = psn;
  link_.Transmit(std::move(packet));
}

uint32_t ResponderSteps::Flush() {
  writing_bytes_ = 0;
  late_.PushAll();
  // A message whose last packet has arrived is one of the steps.
  for (const auto& step : std::exchange(steps_, {})) {
    if (!step->completion) continue;
    link_.FlushReceive(step->completion->wr_id, TakeFlushedStatus());
  }
  return TakeFlushedStatus();
}

uint32_t ResponderSteps::TakeFlushedStatus() {
  return std::exchange(flushed_status_, verbs::wc_status::kFlushed);
}

void ResponderSteps::Reset() {
  writing_bytes_ = 0;
  steps_.clear();
  late_.Clear();
  TakeFlushedStatus();
  fetches_.Reset();
}

}  // namespace ibemu::fabric
