// The half of an unreliable connection that sends: IBA vol 1 §9.8.2, §9.9.2.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_REQUESTER_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_REQUESTER_H_

#include <cstdint>
#include <optional>

#include "base/timers.h"
#include "hca/model/mlx4/transport/connection_link.h"

namespace ibemu::hca::model::mlx4 {

// Sends what the send queue holds, without waiting for anybody: a work request
// is complete when its last packet has left.  Others have their turn after each
// 64 packets.
class UcRequester {
 public:
  UcRequester(ConnectionLink& link, Timers& timers)
      : link_(link), timers_(timers) {}
  ~UcRequester() { timers_.Cancel(turn_); }
  UcRequester(const UcRequester&) = delete;
  UcRequester& operator=(const UcRequester&) = delete;

  // The queue pair may send, from PSN `psn` on.
  void Start(uint32_t psn) { next_psn_ = psn; }
  // There may be something to send.
  void Pump();
  // The message that began leaves as a whole; no other begins.
  void Drain();
  // The queue pair is in error: the message that began ends with kFlushed.
  void Flush();

  uint32_t next_psn() const { return next_psn_; }

 private:
  // Takes the next WQE.  False: there is none, or it fails.
  bool Begin();
  void SendPart();
  void Fail(const SendWqe& wqe, prm::CqeSyndrome syndrome);
  void EndTurn();

  ConnectionLink& link_;
  Timers& timers_;
  std::optional<SendWqe> message_;  // that began, and
  uint32_t sent_ = 0;               // how many packets of it have left
  uint32_t next_psn_ = 0;
  TimerId turn_ = TimerId::kNone;  // the next one
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_REQUESTER_H_
