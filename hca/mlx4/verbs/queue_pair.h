// A queue pair of an mlx4 adapter.
#ifndef IBEMU_HCA_MLX4_VERBS_QUEUE_PAIR_H_
#define IBEMU_HCA_MLX4_VERBS_QUEUE_PAIR_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
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

// The adapter does the transport, and the driver carries messages between its
// own memory and the client's: a send is posted when it has been fetched, a
// receive is complete when it has been put down.  Both end in the order in
// which they were posted.  What ends them badly is the adapter, as far as it
// can: whether a key is wrong, too.
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
  // Errors, besides: Unavailable, the adapter is gone; Internal, its firmware
  // refuses.
  absl::Status Modify(const verbs::QpAttributes& attributes) override;
  verbs::QpAttributes Query() const override;
  absl::Status PostReceive(std::span<verbs::ReceiveRequest> requests,
                           size_t& taken) override;
  absl::Status PostSend(std::span<verbs::SendRequest> requests,
                        size_t& taken) override;
  absl::Status AttachMulticast(const verbs::GidBytes& gid,
                               uint16_t lid) override;
  void DetachMulticast(const verbs::GidBytes& gid, uint16_t lid) override;

  // Of the adapter's completion queue, which is its own.
  uint32_t cqn() const { return completions_->number(); }
  // The event that it asked for has come.
  void OnCompletionEvent();
  // Takes out what is there.
  void PollCompletions();

  void OnEvent(verbs::EventType type);
  // It will not hear any more how requests end: they do now.
  void OnCqError();
  // The adapter is gone: requests end.
  void OnRemoved();
  // The driver goes, and with it what this has of the adapter.
  void OnGone();

 private:
  using State = verbs::QpState;

  // How many sends are fetched ahead of the adapter.
  static constexpr size_t kMaxFetching = 16;

  struct Send {
    verbs::SendRequest request;
    std::optional<prm::AddressVector> to{};  // of a datagram
    size_t length = 0;
    std::unique_ptr<DmaPool::Buffer> memory{};
    bool ready = false;     // to be posted
    bool arriving = false;  // what it fetched, in the client's memory
    bool complete = false;  // when those before it are
    uint32_t status = 0;    // wc_status; once known
  };
  // A receive that has ended, until it is in the client's memory.
  struct Arrival {
    verbs::WorkCompletion completion;
    std::unique_ptr<DmaPool::Buffer> memory{};  // its client's, until then
    bool solicited = false;
    bool done = false;
    bool fails = false;  // the queue pair, which the adapter does not know
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
  bool running_ = false;  // the adapter has it: not in the reset state
  bool gone_ = false;     // the adapter, or its queue of completions
  std::unique_ptr<CompletionQueue> completions_;
  std::unique_ptr<WorkQueues> queues_;
  std::shared_ptr<DmaPool::Share> send_share_;
  std::shared_ptr<DmaPool::Share> receive_share_;  // null: it has none
  State state_ = State::kReset;
  verbs::QpAttributes attributes_{};
  std::set<std::pair<verbs::GidBytes, uint16_t>> groups_;

  // The first `sent_` wait for memory or for those before them, those up to
  // `posted_` are the adapter's, those up to `begun_` are being fetched.
  std::deque<std::shared_ptr<Send>> sends_;
  size_t sent_ = 0, posted_ = 0, begun_ = 0;
  bool sends_wait_ = false;  // for memory of the driver

  verbs::ReceiveQueue pending_;  // not the adapter's yet
  std::deque<PostedReceive> posted_receives_;
  bool receives_wait_ = false;
  std::deque<std::shared_ptr<Arrival>> arrivals_;

  // Who comes back from memory or a timer: grows with each reset.
  uint64_t life_ = 0;
  std::shared_ptr<QueuePair*> self_ = std::make_shared<QueuePair*>(this);
};

// Wraps `call` so that it does nothing when this queue pair has ended, or was
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
