// PacketsInFlight: the packets that a reliable connection may have to send
// again.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_PACKETS_IN_FLIGHT_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_PACKETS_IN_FLIGHT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "base/timers.h"
#include "fabric/packet/transport.h"
#include "fabric/soft_hca/transport/fetch_in_flight.h"
#include "fabric/soft_hca/transport/queue_pair_link.h"
#include "verbs/parts/bounce_buffers.h"

namespace ibemu::fabric {

// The packets of a requester that the peer has not acknowledged, and the RDMA
// READs and atomic operations whose data is not in memory yet.  It sends them
// again after a timeout, a NAK, or the time that a receiver that is not ready
// asks for (IBA vol 1 §9.7.5, §9.7.6).
class PacketsInFlight {
 public:
  // The limit on bytes in flight.  An operation that starts below the limit may
  // exceed it.
  static constexpr size_t kMaxBytes = 2 * verbs::kChunk;

  class Listener {
   public:
    // No retries are left.  `status` is the oldest send's completion status.
    virtual void OnRetriesExceeded(uint32_t status) = 0;
    // The time that the receiver asked for is over.
    virtual void OnReceiverReady() = 0;

   protected:
    ~Listener() = default;
  };

  PacketsInFlight(QueuePairLink& link, Listener& listener)
      : link_(link), qp_(link.qp()), listener_(listener) {}
  ~PacketsInFlight() { qp_.timers.Cancel(retry_timer_); }
  PacketsInFlight(const PacketsInFlight&) = delete;
  PacketsInFlight& operator=(const PacketsInFlight&) = delete;

  // The next packet has PSN `psn`.
  void Start(uint32_t psn);
  // Allows as many retries as the attributes say.
  void RenewRetries();
  // The same, with the timeout of another path from now on.
  void OnNewPath();

  bool empty() const { return packets_.empty(); }
  size_t bytes() const { return bytes_; }
  // Returns the first PSN in flight, if there is one.
  std::optional<uint32_t> oldest_psn() const;
  // Returns true between an RNR NAK and OnReceiverReady().  Nothing is sent
  // then.
  bool waits_for_receiver() const { return waits_for_receiver_; }
  // Returns the oldest request whose response is not complete, or null.
  std::shared_ptr<FetchInFlight> FirstUnanswered() const;

  // Sends packets.  `fetch` is null unless they are a request for data.
  void Send(std::shared_ptr<Transport> packets,
            std::shared_ptr<FetchInFlight> fetch);
  // The peer received all packets up to `psn`.  Returns true if that is news.
  bool Acknowledge(uint32_t psn);
  // A part of the response to a request has arrived.
  void OnResponse();
  // The peer has no receive request for a packet.  `timer` is the code of the
  // delay that it asks for.
  void OnRnrNak(uint8_t timer);
  // Sends again what waits for an answer of the peer.
  void Retransmit();

  // Forgets all packets.
  void Reset();

 private:
  // One or more packets that may have to be sent again.
  struct InFlight {
    std::shared_ptr<Transport> packets;
    std::shared_ptr<FetchInFlight> fetch;  // null: neither RDMA READ nor atomic
  };

  bool IsEnded(const InFlight& sent) const;
  bool AwaitsPeer(const InFlight& sent) const;
  std::shared_ptr<const Transport> RestOf(const InFlight& sent) const;
  absl::Duration Timeout() const;
  void ArmRetryTimer();
  void OnRetryTimeout();

  QueuePairLink& link_;
  const QueuePairContext& qp_;
  Listener& listener_;
  std::deque<InFlight> packets_;
  size_t bytes_ = 0;
  uint32_t acknowledged_psn_ = 0;  // and all before it
  int retries_left_ = 0, rnr_retries_left_ = 0;
  int timeouts_ = 0;  // since the last progress
  TimerId retry_timer_ = TimerId::kNone;
  bool waits_for_receiver_ = false;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_PACKETS_IN_FLIGHT_H_
