// QueuePair: a queue pair of an mlx4 adapter.
#ifndef IBEMU_HCA_MLX4_VERBS_QUEUE_PAIR_H_
#define IBEMU_HCA_MLX4_VERBS_QUEUE_PAIR_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hca/mlx4/core/completion_queue.h"
#include "hca/mlx4/verbs/posted_receive.h"
#include "hca/mlx4/verbs/work_queues.h"
#include "hca/prm/mlx4_qp.h"
#include "hca/prm/mlx4_wqe.h"
#include "verbs/parts/completion_queue.h"
#include "verbs/parts/memory_transfer.h"
#include "verbs/parts/receive_queue.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

class SharedReceiveQueue;
class VerbsProvider;

// A queue pair for which the adapter does the transport, while the driver
// carries messages between its own memory and the client's.  A send is posted
// to the adapter when its data has been fetched; a receive is complete when its
// data has been written to the client's memory.  Work requests end in the order
// in which they were posted.  As far as possible it is the adapter that makes
// them fail, even if a key is wrong.
class QueuePair final : public verbs::Qp {
 public:
  // Errors: those of memory, numbers and commands.
  static absl::StatusOr<std::unique_ptr<QueuePair>> Create(
      std::shared_ptr<VerbsProvider> provider, const verbs::QpInit& init,
      verbs::ObjectListener& listener);
  ~QueuePair() override;
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  uint32_t number() const override { return number_; }
  verbs::QpCapacity capacity() const override { return init_.capacity; }
  // Errors, in addition: Unavailable if the adapter is gone; Internal if its
  // firmware refuses.
  absl::Status Modify(const verbs::QpAttributes& attributes) override;
  verbs::QpAttributes Query() const override;
  absl::Status PostReceive(std::span<verbs::ReceiveRequest> requests,
                           size_t& taken) override;
  absl::Status PostSend(std::span<verbs::SendRequest> requests,
                        size_t& taken) override;
  absl::Status AttachMulticast(const verbs::GidBytes& gid,
                               uint16_t lid) override;
  void DetachMulticast(const verbs::GidBytes& gid, uint16_t lid) override;

  // The number of the adapter's completion queue, which is this queue pair's
  // own.
  uint32_t cqn() const { return completions_->number(); }
  // Called when the event that the completion queue asked for has come.
  void OnCompletionEvent();
  // Handles the completions that are there.
  void PollCompletions();

  void OnEvent(verbs::EventType type);
  // Called when the adapter's completion queue has failed.  Completions will
  // not be heard of any more, so all requests end now.
  void OnCqError();
  // Called when the adapter is gone: all requests end.
  void OnRemoved();
  // Called when the driver goes: releases what this object has of the adapter.
  void OnGone();

 private:
  using State = verbs::QpState;

  // The largest number of sends that are fetched ahead of the adapter.
  static constexpr size_t kMaxFetching = 16;

  // A send request on its way.
  struct Send {
    verbs::SendRequest request;
    std::optional<prm::AddressVector> to{};  // only of a datagram
    size_t length = 0;
    std::unique_ptr<DmaPool::Buffer> memory{};
    bool ready = false;     // can be posted
    bool arriving = false;  // returned data is on its way to the client
    bool complete = false;  // ends once those before it have
    uint32_t status = 0;    // wc_status, once known
  };
  // A receive that has ended at the adapter, until its data is in the client's
  // memory.
  struct Arrival {
    verbs::WorkCompletion completion;
    std::unique_ptr<DmaPool::Buffer> memory{};  // still counted as the client's
    bool solicited = false;
    bool done = false;
    bool fails = false;  // the queue pair must fail; the adapter does not know
  };

  QueuePair(std::shared_ptr<VerbsProvider> provider, const verbs::QpInit& init,
            verbs::ObjectListener& listener);

  // queue_pair.cc
  absl::Status Allocate();
  absl::Status Command(State from, State to,
                       const verbs::QpAttributes& attributes);
  void Forget();
  void StopWaiting();
  void EnterError();
  void Fail();
  void LeaveGroups();
  void TakeDown();
  void ReleaseHardware();
  bool Broken() const { return state_ == State::kError; }
  bool is_datagram() const { return init_.type == verbs::QpType::kUd; }
  SharedReceiveQueue* srq() const;
  verbs::CompletionQueue& send_cq() const;
  verbs::CompletionQueue& receive_cq() const;
  void OnCompletion(const Completion& completion, bool solicited);
  std::optional<uint32_t> SolicitedIndex(uint32_t end) const;
  template <class Call>
  auto WhileSame(Call call);

  // queue_pair_send.cc
  void Pump();
  bool Begin(const std::shared_ptr<Send>& send);
  bool Fetch(const std::shared_ptr<Send>& send);
  void PostReady();
  void OnSent(const Completion& completion);
  void PutDown(const std::shared_ptr<Send>& send);
  void CompleteSends();
  void FlushUnposted();
  void FlushSends();
  bool AwaitsAnswers() const;
  size_t LongestSend() const;

  // queue_pair_receive.cc
  void PumpReceives();
  void OnReceived(const Completion& completion, bool solicited);
  verbs::WorkCompletion Describe(const prm::Cqe& entry, uint64_t id) const;
  void PutDown(PostedReceive receive, const std::shared_ptr<Arrival>& arrival);
  void RunArrivals();
  void FlushReceives();

  const std::shared_ptr<VerbsProvider> provider_;
  const verbs::QpInit init_;
  verbs::ObjectListener& listener_;
  uint32_t number_ = 0;
  bool has_number_ = false;
  bool running_ = false;  // the adapter knows it: not in the reset state
  bool gone_ = false;     // the adapter or its completion queue is gone
  std::unique_ptr<CompletionQueue> completions_;
  std::unique_ptr<WorkQueues> queues_;
  std::shared_ptr<DmaPool::Share> send_share_;
  std::shared_ptr<DmaPool::Share> receive_share_;  // null with an SRQ
  State state_ = State::kReset;
  verbs::QpAttributes attributes_{};
  std::set<std::pair<verbs::GidBytes, uint16_t>> groups_;

  // The first `sent_` sends are done by the adapter, and wait for the client's
  // memory or for those before them; those up to `posted_` are the adapter's;
  // those up to `begun_` are being fetched.
  std::deque<std::shared_ptr<Send>> sends_;
  size_t sent_ = 0, posted_ = 0, begun_ = 0;
  bool sends_wait_ = false;  // waits for memory of the driver

  verbs::ReceiveQueue pending_;  // not yet given to the adapter
  std::deque<PostedReceive> posted_receives_;
  bool receives_wait_ = false;
  std::deque<std::shared_ptr<Arrival>> arrivals_;

  // Tells callbacks from memory and timers that the queue pair was reset: grows
  // with each reset.
  uint64_t life_ = 0;
  std::shared_ptr<QueuePair*> self_ = std::make_shared<QueuePair*>(this);
};

// Wraps `call` so that it does nothing if this queue pair has ended, or was
// reset, since.
template <class Call>
auto QueuePair::WhileSame(Call call) {
  return [self = self_, life = life_,
          call = std::move(call)](auto&&... arguments) mutable {
    if (*self == nullptr || (*self)->life_ != life) return;
    call(std::forward<decltype(arguments)>(arguments)...);
  };
}

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_QUEUE_PAIR_H_
