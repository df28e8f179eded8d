#include "fabric/soft_hca/transport/send_queue.h"

#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "verbs/wc_status.h"
#include "wire/psn.h"

namespace ibemu::fabric {

absl::Status SendQueue::Post(std::span<verbs::SendRequest> requests,
                             size_t& taken) {
  for (verbs::SendRequest& request : requests) {
    if (request.sges.size() > qp_.init.capacity.send_sges ||
        !PostedSend::IsOffered(qp_.init.type, request)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "operation %d, %d SGEs", request.work.opcode, request.sges.size()));
    }
    if (entries_.full()) {
      return absl::ResourceExhaustedError("the send queue is full");
    }
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
    const std::unique_ptr<PostedSend> send = std::move(sends_.front());
    sends_.pop_front();
    --left_;
    PushCompletion(*send, verbs::wc_status::kSuccess);
  }
  if (!sends_.empty() && sends_.front()->failure != 0) {
    FailOldest(sends_.front()->failure);
  }
}

void SendQueue::Fail(PostedSend& send, uint32_t status) {
  send.failure = status;
  if (sends_.front().get() == &send) FailOldest(status);
}

void SendQueue::FailOldest(uint32_t status) {
  if (sends_.empty()) return;
  const std::unique_ptr<PostedSend> send = std::move(sends_.front());
  sends_.pop_front();
  if (left_ > 0) --left_;
  qp_.history.NoteFailure({.id = send->request.work.wr_id,
                           .status = status,
                           .psn = send->first_psn,
                           .what = std::string(send->Name())});
  PushCompletion(*send, status);
  if (qp_.IsReliable()) return link_.EnterError();
  link_.EnterSendQueueError();
  Flush();
}

void SendQueue::PushCompletion(const PostedSend& send, uint32_t status) {
  const bool wanted = qp_.init.signal_all || (send.request.work.send_flags &
                                              verbs::send_flag::kSignaled) != 0;
  if (status == verbs::wc_status::kSuccess && !wanted) return;
  verbs::WorkCompletion completion = send.Completion();
  completion.status = status;
  completion.qp_num = qp_.number;
  if (!qp_.send_cq().PushSend(completion, entries_, send.entry)) {
    link_.OnLostCompletion();
  }
}

void SendQueue::Flush() {
  for (const auto& send : std::exchange(sends_, {})) {
    PushCompletion(*send, verbs::wc_status::kFlushed);
  }
  left_ = 0;
}

void SendQueue::Reset() {
  sends_.clear();
  entries_.FreeAll();
  left_ = 0;
}

}  // namespace ibemu::fabric
