// UcRequester: the sending half of an unreliable connection (IBA vol 1 §9.8.2,
// §9.9.2).
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_REQUESTER_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_REQUESTER_H_

#include <cstdint>
#include <optional>

#include "base/timers.h"
#include "hca/model/mlx4/transport/connection_link.h"

namespace ibemu::hca::model::mlx4 {

// The requester of a UC queue pair.  It sends what the send queue holds and
// waits for no acknowledgement: a work request is complete when its last packet
// was sent.  After each 64 packets it lets other work of the loop run.
class UcRequester {
 public:
  UcRequester(ConnectionLink& link, Timers& timers)
      : link_(link), timers_(timers) {}
  ~UcRequester() { timers_.Cancel(turn_); }
  UcRequester(const UcRequester&) = delete;
  UcRequester& operator=(const UcRequester&) = delete;

  // The queue pair may send, from PSN `psn` on.
  void Start(uint32_t psn) { next_psn_ = psn; }
  // Sends what the send queue holds.
  void Pump();
  // Sends the rest of the current message, and begins no other.
  void Drain();
  // The queue pair is in error: the current message ends with kFlushed.
  void Flush();

  uint32_t next_psn() const { return next_psn_; }

 private:
  // Fetches the next WQE.  Returns false if there is none, or if it fails.
  bool Begin();
  void SendPart();
  void Fail(const SendWqe& wqe, prm::CqeSyndrome syndrome);
  void EndTurn();

  ConnectionLink& link_;
  Timers& timers_;
  std::optional<SendWqe> message_;  // the current one
  uint32_t sent_ = 0;               // packets of it that were sent
  uint32_t next_psn_ = 0;
  TimerId turn_ = TimerId::kNone;  // continues after a pause
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_REQUESTER_H_
