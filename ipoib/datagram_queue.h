// DatagramQueue: the queue pair of an interface.
#ifndef IBEMU_IPOIB_DATAGRAM_QUEUE_H_
#define IBEMU_IPOIB_DATAGRAM_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/deferred_call.h"
#include "base/timers.h"
#include "ipoib/own_memory.h"
#include "verbs/provider.h"
#include "wire/types.h"

namespace ibemu::ipoib {

// A DatagramQueue sends datagrams, and receives them as long as it lives.
class DatagramQueue final : private verbs::CqListener {
 public:
  // A received datagram, without the place of its GRH.
  struct Datagram {
    uint16_t slid = 0;
    uint8_t sl = 0;
    uint8_t path_bits = 0;
    uint32_t source_qpn = 0;
    std::span<const std::byte> payload;  // goes with the call
  };
  class Listener {
   public:
    // Must not destroy the queue.
    virtual void OnDatagram(const Datagram& datagram) = 0;
    // room() was 0 and is not any more.
    virtual void OnRoom() = 0;

   protected:
    ~Listener() = default;
  };
  // The most datagrams that wait to be received and to be sent.
  struct Depth {
    uint32_t receives = 64;
    uint32_t sends = 16;

    bool operator==(const Depth&) const = default;
  };
  struct Options {
    int port = 1;
    uint16_t pkey_index = 0;
    uint32_t q_key = 0;
    uint32_t first_psn = 0;
    size_t mtu = 2048;  // bytes of the longest datagram
    Depth depth{};

    bool operator==(const Options&) const = default;
  };

  // All references must outlive the queue.
  //
  // Errors: those of the provider.
  static absl::StatusOr<std::unique_ptr<DatagramQueue>> Create(
      Timers& timers, verbs::Provider& provider, const Options& options,
      Listener& listener);
  ~DatagramQueue();
  DatagramQueue(const DatagramQueue&) = delete;
  DatagramQueue& operator=(const DatagramQueue&) = delete;

  const Options& options() const { return options_; }
  uint32_t qpn() const { return qp_->number(); }
  // Returns how many datagrams can be sent before others are lost.
  size_t room() const { return free_.size(); }

  // Sends a datagram, or loses it: if it is too long, if there is no such
  // address, or if too many others are under way.
  void Send(const verbs::AddressAttributes& to, uint32_t qpn,
            std::span<const std::byte> payload);

  // Errors: those of the provider.
  absl::Status Attach(const wire::Gid& mgid, wire::Lid mlid);
  void Detach(const wire::Gid& mgid, wire::Lid mlid);

 private:
  DatagramQueue(Timers& timers, verbs::Provider& provider,
                const Options& options, Listener& listener);

  absl::Status Start();
  absl::Status Modify(verbs::QpState state, uint32_t mask);
  absl::Status PostReceive(size_t slot);
  void Drain();
  void OnReceived(const verbs::WorkCompletion& completion, size_t slot);

  // A part of memory for one datagram: the receives' come first.
  uint32_t slots() const;
  size_t SlotBytes() const;
  uint64_t AddressOfSlot(size_t slot) const;

  // verbs::CqListener
  void OnArrival() override { drain_.Request(); }
  void OnCompletion() override {}
  void OnEvent(verbs::AsyncEventType /*type*/) override {}

  verbs::Provider& provider_;
  const Options options_;
  Listener& listener_;
  const std::shared_ptr<OwnMemory> memory_;
  std::unique_ptr<verbs::Pd> pd_;
  std::unique_ptr<verbs::Mr> mr_;
  std::unique_ptr<verbs::Cq> cq_;
  std::vector<std::unique_ptr<verbs::Ah>> under_way_;  // by send; null: free
  std::vector<size_t> free_;                           // sends
  std::unique_ptr<verbs::Qp> qp_;
  // A completion may arrive in the middle of a call, in which nothing else
  // should be called.
  DeferredCall drain_;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_DATAGRAM_QUEUE_H_
