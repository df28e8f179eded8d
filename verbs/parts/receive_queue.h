// Queues of receive requests in memory.
#ifndef IBEMU_VERBS_PARTS_RECEIVE_QUEUE_H_
#define IBEMU_VERBS_PARTS_RECEIVE_QUEUE_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "verbs/parts/queue_limit.h"
#include "verbs/provider.h"

namespace ibemu::verbs {

// A ReceiveQueue holds the receive requests, of one queue pair or shared, that
// wait for messages.
class ReceiveQueue {
 public:
  ReceiveQueue(uint32_t max_requests, uint32_t max_sges)
      : limit_(max_requests), max_sges_(max_sges) {}

  uint32_t max_requests() const { return limit_.size(); }
  uint32_t max_sges() const { return max_sges_; }
  void SetMaxRequests(uint32_t most) { limit_.Resize(most); }
  size_t size() const { return requests_.size(); }
  size_t free() const { return limit_.Free(size()); }
  // Lets so many more requests be posted, see QueueLimit.
  void MakeRoom(size_t requests) { limit_.MakeRoom(size(), requests); }

  // Adds requests, see verbs::Srq::PostReceive().
  absl::Status Post(std::span<verbs::ReceiveRequest> requests, size_t& taken);

  // Null: there is none.
  const verbs::ReceiveRequest* oldest() const {
    return requests_.empty() ? nullptr : &requests_.front();
  }
  std::optional<verbs::ReceiveRequest> Take();
  // Gives back, as the oldest, a request that was taken for a message that was
  // not completed.
  void PutBack(verbs::ReceiveRequest request) {
    requests_.push_front(std::move(request));
  }

 private:
  QueueLimit limit_;
  const uint32_t max_sges_;
  std::deque<verbs::ReceiveRequest> requests_;
};

// A SharedReceiveQueue is a shared receive queue whose requests are in memory.
// The listener must outlive it.
class SharedReceiveQueue : public verbs::Srq {
 public:
  // `most` is the largest number of requests to which it may be resized.
  SharedReceiveQueue(const verbs::Pd& pd,
                     const verbs::SrqAttributes& attributes, uint32_t most,
                     verbs::ObjectListener& listener)
      : pd_(pd),
        queue_(attributes.max_requests, attributes.max_sges),
        limit_(attributes.limit),
        most_(most),
        listener_(listener) {}

  verbs::SrqAttributes Query() const override;
  size_t posted() const override { return queue_.size(); }
  absl::Status Resize(uint32_t max_requests) override;
  absl::Status SetLimit(uint32_t limit) override;
  absl::Status PostReceive(std::span<verbs::ReceiveRequest> requests,
                           size_t& taken) override;

  // The domain of the keys in its requests.  A queue pair that takes from it
  // may have another one, as in Linux (IBA vol 1 §10.2.9).
  const verbs::Pd* pd() const { return &pd_; }

  std::optional<verbs::ReceiveRequest> Take();
  void PutBack(verbs::ReceiveRequest request) {
    queue_.PutBack(std::move(request));
  }

 private:
  const verbs::Pd& pd_;
  ReceiveQueue queue_;
  uint32_t limit_;
  const uint32_t most_;
  verbs::ObjectListener& listener_;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PARTS_RECEIVE_QUEUE_H_
