// RcRequester: the sending half of a reliable connection (IBA vol 1 §9.7.3,
// §9.7.5, §9.9.2).
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_RC_REQUESTER_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_RC_REQUESTER_H_

#include <cstdint>
#include <deque>

#include "base/timers.h"
#include "hca/model/mlx4/core/parsed_packet.h"
#include "hca/model/mlx4/transport/connection_link.h"
#include "wire/psn.h"

namespace ibemu::hca::model::mlx4 {

// The requester of an RC queue pair.  It sends what the send queue holds, with
// a window of packets in flight, goes back when a packet was lost or the peer
// was not ready, and completes the work requests in order.
class RcRequester {
 public:
  RcRequester(ConnectionLink& link, Timers& timers)
      : link_(link), timers_(timers) {}
  ~RcRequester() { timers_.Cancel(timer_); }
  RcRequester(const RcRequester&) = delete;
  RcRequester& operator=(const RcRequester&) = delete;

  // The queue pair may send, from PSN `psn` on.
  void Start(uint32_t psn);
  // Sends what the send queue holds, as far as the window allows.
  void Pump();
  // Handles an acknowledgement or a response.
  void Receive(const ParsedPacket& packet);
  // The queue pair is in error: requests in progress end with kFlushed.
  void Flush();

  // True if nothing waits for the peer.
  bool idle() const { return open_.empty(); }
  uint32_t next_psn() const { return next_psn_; }
  uint32_t oldest_psn() const { return oldest_psn_; }

 private:
  struct Request {
    SendWqe wqe;
    uint32_t psn = 0;       // of its first packet
    uint32_t packets = 0;   // PSNs that it takes; 0: it needs no peer
    uint32_t answered = 0;  // packets of the response that have arrived
    // The error of a request that can't be sent.  The request ends with it when
    // all requests before it have ended.
    prm::CqeSyndrome error = prm::CqeSyndrome::kNone;

    bool awaits_response() const;
    uint32_t end() const { return wire::PsnAfter(psn, packets); }
  };

  // Fetches the next WQE.  Returns false if there is none, or if it has to
  // wait.
  bool Open();
  // Returns the error of a work request, or kNone.
  prm::CqeSyndrome Check(const SendWqe& wqe) const;
  // Sends the packet with PSN `psn`, or the request that it belongs to.
  // Returns false if that request can't be sent.
  bool SendAt(uint32_t psn);
  void SendRead(const Request& request, uint32_t psn);
  void SendAtomic(const Request& request);
  bool SendData(Request& request, uint32_t index);

  void OnAcknowledge(const ParsedPacket& packet, uint8_t syndrome);
  void OnNak(uint32_t psn, uint8_t code);
  void OnRnrNak(uint32_t psn, uint8_t timer);
  void OnReadResponse(ParsedPacket packet);
  void OnAtomicResponse(ParsedPacket packet);

  // Ends the requests before `psn`, which have all arrived.  Returns false if a
  // response among them is missing, which is then requested again.
  bool Advance(uint32_t psn);
  void CompleteFront(uint32_t byte_count);
  // Carries out a work request that needs no peer.  Returns its error, or
  // kNone.
  prm::CqeSyndrome Execute(const SendWqe& wqe);
  // Ends the requests at the front that wait for no peer.
  void EndLocal();
  // Sends again from `psn` on, or fails if no retry is left.
  void GoBack(uint32_t psn);
  void Fail(prm::CqeSyndrome syndrome);
  void OnTimeout();
  void RestartTimer();
  int OpenReads() const;

  ConnectionLink& link_;
  Timers& timers_;
  std::deque<Request> open_;
  uint32_t next_psn_ = 0;              // the first PSN of the next work request
  uint32_t send_psn_ = 0;              // the PSN of the next packet
  uint32_t oldest_psn_ = 0;            // the first unacknowledged PSN
  int retries_ = 0, rnr_retries_ = 0;  // retries that are left
  bool waiting_ = false;               // the peer is not ready
  bool broken_ = false;
  TimerId timer_ = TimerId::kNone;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_RC_REQUESTER_H_
