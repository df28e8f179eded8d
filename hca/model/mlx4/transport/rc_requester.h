// The half of a reliable connection that asks: IBA vol 1 §9.7.3, §9.7.5,
// §9.9.2.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_RC_REQUESTER_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_RC_REQUESTER_H_

#include <cstdint>
#include <deque>

#include "base/timers.h"
#include "hca/model/mlx4/core/packet.h"
#include "hca/model/mlx4/transport/connection_link.h"
#include "wire/psn.h"

namespace ibemu::hca::model::mlx4 {

// Sends what the send queue holds, a window of packets ahead; goes back when a
// packet was lost or the peer was not ready; ends the work requests in order.
class RcRequester {
 public:
  RcRequester(ConnectionLink& link, Timers& timers)
      : link_(link), timers_(timers) {}
  ~RcRequester() { timers_.Cancel(timer_); }
  RcRequester(const RcRequester&) = delete;
  RcRequester& operator=(const RcRequester&) = delete;

  // The queue pair may send, from PSN `psn` on.
  void Start(uint32_t psn);
  // There may be something to send.
  void Pump();
  // An acknowledgement or a response.
  void Receive(const Packet& packet);
  // The queue pair is in error: what is open ends with kFlushed.
  void Flush();

  // Nothing waits for the peer.
  bool idle() const { return open_.empty(); }
  uint32_t next_psn() const { return next_psn_; }
  uint32_t oldest_psn() const { return oldest_psn_; }

 private:
  struct Request {
    SendWqe wqe;
    uint32_t psn = 0;       // of its first packet
    uint32_t packets = 0;   // PSNs that it takes; 0: it needs no peer
    uint32_t answered = 0;  // packets of a response that came
    // Why it can't be sent; it ends so when those before it have ended.
    prm::CqeSyndrome error = prm::CqeSyndrome::kNone;

    bool awaits_response() const;
    uint32_t end() const { return wire::PsnAfter(psn, packets); }
  };

  // Takes the next WQE.  False: there is none, or it has to wait.
  bool Open();
  // What is wrong with a work request, if anything is.
  prm::CqeSyndrome Check(const SendWqe& wqe) const;
  // False: the request that it belongs to can't be sent.
  bool SendAt(uint32_t psn);
  void SendRead(const Request& request, uint32_t psn);
  void SendAtomic(const Request& request);
  bool SendData(Request& request, uint32_t index);

  void OnAcknowledge(const Packet& packet, uint8_t syndrome);
  void OnNak(uint32_t psn, uint8_t code);
  void OnRnrNak(uint32_t psn, uint8_t timer);
  void OnReadResponse(Packet packet);
  void OnAtomicResponse(Packet packet);

  // All before `psn` has arrived.  False: a response is missing, and was asked
  // for again.
  bool Advance(uint32_t psn);
  void CompleteFront(uint32_t byte_count);
  // Ends those at the front that wait for no peer.
  void EndLocal();
  // From `psn` on once more, if that may be tried.
  void GoBack(uint32_t psn);
  void Fail(prm::CqeSyndrome syndrome);
  void OnTimeout();
  void RestartTimer();
  int OpenReads() const;

  ConnectionLink& link_;
  Timers& timers_;
  std::deque<Request> open_;
  uint32_t next_psn_ = 0;              // of the next work request
  uint32_t send_psn_ = 0;              // of the next packet
  uint32_t oldest_psn_ = 0;            // that is not acknowledged
  int retries_ = 0, rnr_retries_ = 0;  // left
  bool waiting_ = false;               // for the peer to become ready
  bool broken_ = false;
  TimerId timer_ = TimerId::kNone;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_RC_REQUESTER_H_
