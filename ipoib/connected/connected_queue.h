// ConnectedQueue: the queues and the memory that the connections of an
// interface share.
#ifndef IBEMU_IPOIB_CONNECTED_CONNECTED_QUEUE_H_
#define IBEMU_IPOIB_CONNECTED_CONNECTED_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/deferred_call.h"
#include "base/timers.h"
#include "ipoib/connected/connection_data.h"
#include "ipoib/own_memory.h"
#include "ipoib/wire/hardware_address.h"
#include "verbs/provider.h"

namespace ibemu::ipoib {

// A ConnectedQueue has the memory for packets, the completion queue and the
// shared receive queue.
class ConnectedQueue final : private verbs::CqListener {
 public:
  static constexpr size_t kReceives = 64, kSends = 32;
  static constexpr size_t kLongest =
      kConnectedMtu + wire::kBytes<Encapsulation>;

  // The end of a queue pair's handle.  The queue destroys the queue pair once
  // no message of it holds a shared receive request any more.
  struct Retire {
    ConnectedQueue* queue = nullptr;
    void operator()(verbs::Qp* qp) const { queue->RetireQp(*qp); }
  };
  using QpHandle = std::unique_ptr<verbs::Qp, Retire>;

  // None of these may destroy the queue.
  class Listener {
   public:
    // A message came; `datagram` goes with the call.
    virtual void OnMessage(std::span<const std::byte> datagram) = 0;
    // The queue pair of that number could not send.
    virtual void OnBroken(uint32_t qpn) = 0;
    // room() was 0 and is not any more.
    virtual void OnRoom() = 0;

   protected:
    ~Listener() = default;
  };

  // All references must outlive the queue.
  //
  // Errors: those of the provider.
  static absl::StatusOr<std::unique_ptr<ConnectedQueue>> Create(
      Timers& timers, verbs::Provider& provider, Listener& listener);
  ~ConnectedQueue();
  ConnectedQueue(const ConnectedQueue&) = delete;
  ConnectedQueue& operator=(const ConnectedQueue&) = delete;

  // Makes the queue pair of a connection.  The handle must not outlive this.
  //
  // Errors: those of the provider.
  absl::StatusOr<QpHandle> CreateQp();

  // Returns how many messages can be sent before others are lost.
  size_t room() const { return free_.size(); }
  // Sends a message, or loses it: if it is too long, or there is no room.
  void Send(verbs::Qp& qp, std::span<const std::byte> datagram);

 private:
  // A queue pair, until it has gone.
  struct Pair final : verbs::ObjectListener {
    explicit Pair(ConnectedQueue& its) : queue(its) {}
    void OnEvent(verbs::AsyncEventType type) override;

    ConnectedQueue& queue;
    std::unique_ptr<verbs::Qp> qp;
    bool retired = false;
    bool ended = false;  // it takes no more receive requests
  };

  ConnectedQueue(Timers& timers, verbs::Provider& provider, Listener& listener);

  absl::Status Start();
  absl::Status PostReceive(size_t slot);
  void RetireQp(verbs::Qp& qp);
  void Drain();
  void OnReceived(const verbs::WorkCompletion& completion);
  void OnSent(const verbs::WorkCompletion& completion);

  // verbs::CqListener
  void OnArrival() override { drain_.Request(); }
  void OnCompletion() override {}
  void OnEvent(verbs::AsyncEventType /*type*/) override {}

  verbs::Provider& provider_;
  Listener& listener_;
  const std::shared_ptr<OwnMemory> memory_;
  std::unique_ptr<verbs::Pd> pd_;
  std::unique_ptr<verbs::Mr> mr_;
  std::unique_ptr<verbs::Cq> cq_;
  std::unique_ptr<verbs::Srq> srq_;
  std::list<Pair> pairs_;
  std::vector<size_t> free_;  // sends
  bool was_full_ = false;     // and OnRoom() is due
  // A completion may arrive in the middle of a call, in which nothing else
  // should be called.
  DeferredCall drain_;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_CONNECTED_CONNECTED_QUEUE_H_
