#include "verbs/parts/receive_queue.h"

#include <utility>

#include "absl/strings/str_format.h"

namespace ibemu::verbs {

absl::Status ReceiveQueue::Post(std::span<verbs::ReceiveRequest> requests,
                                size_t& taken) {
  for (verbs::ReceiveRequest& request : requests) {
    if (request.sges.size() > max_sges_) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%d sges, %d are allowed", request.sges.size(), max_sges_));
    }
    if (limit_.IsFull(size())) {
      return absl::ResourceExhaustedError("the receive queue is full");
    }
    requests_.push_back(std::move(request));
    ++taken;
  }
  return absl::OkStatus();
}

std::optional<verbs::ReceiveRequest> ReceiveQueue::Take() {
  if (requests_.empty()) return std::nullopt;
  verbs::ReceiveRequest request = std::move(requests_.front());
  requests_.pop_front();
  limit_.Shrink(size());
  return request;
}

verbs::SrqAttributes SharedReceiveQueue::Query() const {
  return {.max_requests = queue_.max_requests(),
          .max_sges = queue_.max_sges(),
          .limit = limit_};
}

absl::Status SharedReceiveQueue::Resize(uint32_t max_requests) {
  if (max_requests == 0 || max_requests > most_ ||
      max_requests < queue_.size() || max_requests < limit_) {
    return absl::InvalidArgumentError("not a size that it can have");
  }
  queue_.SetMaxRequests(max_requests);
  return absl::OkStatus();
}

absl::Status SharedReceiveQueue::SetLimit(uint32_t limit) {
  if (limit > queue_.max_requests()) {
    return absl::InvalidArgumentError("a limit above the size");
  }
  limit_ = limit;
  return absl::OkStatus();
}

absl::Status SharedReceiveQueue::PostReceive(
    std::span<verbs::ReceiveRequest> requests, size_t& taken) {
  return queue_.Post(requests, taken);
}

// The event comes once for each limit that was set (IBA vol 1 §10.2.9.2).
std::optional<verbs::ReceiveRequest> SharedReceiveQueue::Take() {
  std::optional<verbs::ReceiveRequest> request = queue_.Take();
  if (limit_ != 0 && queue_.size() < limit_) {
    limit_ = 0;
    listener_.OnEvent(verbs::AsyncEventType::kSrqLimit);
  }
  return request;
}

}  // namespace ibemu::verbs
