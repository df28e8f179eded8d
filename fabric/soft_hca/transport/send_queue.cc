#include "fabric/soft_hca/transport/send_queue.h"

#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "verbs/offered_sends.h"
#include "verbs/wc_status.h"
#include "wire/psn.h"

namespace ibemu::fabric {

absl::Status SendQueue::Post(std::span<verbs::SendRequest> requests,
                             size_t& taken) {
  for (verbs::SendRequest& request : requests) {
    if (request.sges.size() > qp_.init.capacity.send_sges ||
        !verbs::IsOffered(qp_.init.type, request.work)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "operation %d, %d SGEs", request.work.opcode, request.sges.size()));
    }
    if (entries_.full()) {
      return absl::ResourceExhaustedError("the send queue is full");
    }
    signaled_ |= request.work.send_flags & verbs::send_flag::kSignaled;
    sends_.push_back(std::make_unique<PostedSend>(std::move(request)));
    sends_.back()->entry = entries_.Take();
    ++taken;
  }
  return absl::OkStatus();
}

PostedSend* SendQueue::FindFrom(uint32_t psn) {
  for (const auto& send : sends_) {
    if (send->started && wire::PsnDistance(psn, send->last_psn) <= 0) {
      return send.get();
    }
  }
  return nullptr;
}

void SendQueue::CompleteBefore(std::optional<uint32_t> oldest) {
  for (size_t i = 0; i < left_; ++i) {
    PostedSend& send = *sends_[i];
    if (!send.Fetches() &&
        (!oldest || wire::PsnDistance(send.last_psn, *oldest) < 0)) {
      send.complete = true;
    }
  }
  Complete();
}

void SendQueue::Complete() {
  while (!sends_.empty() && sends_.front()->complete) {
    const CompletionFate fate = link_.FateOf(WorkQueue::kSend);
    if (!fate.fault.empty()) NoteFault(*sends_.front(), fate);
    if (fate.status != 0) return FailOldest(fate.status, fate.vendor_err);
    const std::unique_ptr<PostedSend> send = std::move(sends_.front());
    sends_.pop_front();
    --left_;
    PushSuccess(*send, fate);
  }
  if (!sends_.empty() && sends_.front()->failure != 0) {
    FailOldest(sends_.front()->failure);
  }
}

void SendQueue::NoteFault(const PostedSend& send, const CompletionFate& fate) {
  qp_.history.NoteFault(send.first_psn, fate.fault,
                        absl::StrFormat("%s work request %d (%s)", fate.Deed(),
                                        send.request.work.wr_id, send.Name()));
}

void SendQueue::Fail(PostedSend& send, uint32_t status) {
  send.failure = status;
  if (sends_.front().get() == &send) FailOldest(status);
}

void SendQueue::FailOldest(uint32_t status, uint32_t vendor_err) {
  if (sends_.empty()) return;
  const std::unique_ptr<PostedSend> send = std::move(sends_.front());
  sends_.pop_front();
  if (left_ > 0) --left_;
  ++qp_.counters.req_cqe_error;
  qp_.history.NoteFailure({.id = send->request.work.wr_id,
                           .status = status,
                           .psn = send->first_psn,
                           .what = std::string(send->Name())});
  PushFailure(*send, status, vendor_err);
  constexpr char kWhy[] = "as a work request failed";
  if (qp_.IsReliable()) return link_.EnterError(kWhy);
  link_.EnterSendQueueError(kWhy);
  Flush();
}

void SendQueue::PushSuccess(const PostedSend& send,
                            const CompletionFate& fate) {
  const bool wanted = qp_.init.signal_all || (send.request.work.send_flags &
                                              verbs::send_flag::kSignaled) != 0;
  if (!wanted || fate.lost) return;
  Push(send.Completion(), send.entry, fate.delay);
}

void SendQueue::PushFailure(const PostedSend& send, uint32_t status,
                            uint32_t vendor_err) {
  verbs::WorkCompletion completion = send.Completion();
  completion.status = status;
  completion.vendor_err = vendor_err;
  Push(completion, send.entry, absl::ZeroDuration());
}

void SendQueue::Push(verbs::WorkCompletion completion, uint64_t entry,
                     absl::Duration delay) {
  completion.qp_num = qp_.number;
  if (!late_.Delays(delay)) return PushNow(completion, entry);
  late_.Add(delay, [this, completion, entry] { PushNow(completion, entry); });
}

void SendQueue::PushNow(const verbs::WorkCompletion& completion,
                        uint64_t entry) {
  if (!qp_.send_cq().PushSend(completion, entries_, entry)) {
    link_.OnLostCompletion();
  }
}

void SendQueue::Flush() {
  late_.PushAll();
  for (const auto& send : std::exchange(sends_, {})) {
    ++qp_.counters.req_cqe_flush_error;
    PushFailure(*send, verbs::wc_status::kFlushed, 0);
  }
  left_ = 0;
}

void SendQueue::Reset() {
  sends_.clear();
  late_.Clear();
  entries_.FreeAll();
  left_ = 0;
  signaled_ = 0;
}

}  // namespace ibemu::fabric
