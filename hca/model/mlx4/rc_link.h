// What the two halves of a reliable connection need of their queue pair.
#ifndef IBEMU_HCA_MODEL_MLX4_RC_LINK_H_
#define IBEMU_HCA_MODEL_MLX4_RC_LINK_H_

#include <cstdint>
#include <span>

#include "base/timers.h"
#include "hca/model/mlx4/memory_table.h"
#include "hca/model/mlx4/receive_queue.h"
#include "hca/model/mlx4/send_queue.h"
#include "hca/prm/mlx4_completion.h"
#include "hca/prm/mlx4_events.h"

namespace ibemu::hca::model::mlx4 {

// BTH.OpCode of the service RC: IBA vol 1 §9.2.1, table 35.
namespace rc {
inline constexpr uint8_t kSendFirst = 0x00;
inline constexpr uint8_t kSendMiddle = 0x01;
inline constexpr uint8_t kSendLast = 0x02;
inline constexpr uint8_t kSendLastImmediate = 0x03;
inline constexpr uint8_t kSendOnly = 0x04;
inline constexpr uint8_t kSendOnlyImmediate = 0x05;
inline constexpr uint8_t kWriteFirst = 0x06;
inline constexpr uint8_t kWriteMiddle = 0x07;
inline constexpr uint8_t kWriteLast = 0x08;
inline constexpr uint8_t kWriteLastImmediate = 0x09;
inline constexpr uint8_t kWriteOnly = 0x0a;
inline constexpr uint8_t kWriteOnlyImmediate = 0x0b;
inline constexpr uint8_t kReadRequest = 0x0c;
inline constexpr uint8_t kReadResponseFirst = 0x0d;
inline constexpr uint8_t kReadResponseMiddle = 0x0e;
inline constexpr uint8_t kReadResponseLast = 0x0f;
inline constexpr uint8_t kReadResponseOnly = 0x10;
inline constexpr uint8_t kAcknowledge = 0x11;
inline constexpr uint8_t kAtomicAcknowledge = 0x12;
inline constexpr uint8_t kCompareSwap = 0x13;
inline constexpr uint8_t kFetchAdd = 0x14;

// AETH.Syndrome, §9.7.5.1: bits 7:5 say what it is.
inline constexpr uint8_t kAck = 0x1f;  // credits are not counted
inline constexpr uint8_t kKindMask = 0xe0;
inline constexpr uint8_t kValueMask = 0x1f;
inline constexpr uint8_t kRnrNak = 0x20;
inline constexpr uint8_t kNak = 0x60;
inline constexpr uint8_t kNakSequence = 0;
inline constexpr uint8_t kNakInvalidRequest = 1;
inline constexpr uint8_t kNakRemoteAccess = 2;
inline constexpr uint8_t kNakRemoteOperation = 3;

inline constexpr uint32_t kPsnMask = 0xffffff;
// How far `a` is beyond `b`; negative if it is before.
constexpr int32_t PsnDistance(uint32_t a, uint32_t b) {
  return static_cast<int32_t>((a - b) << 8) >> 8;
}
constexpr uint32_t PsnAdd(uint32_t psn, uint32_t count) {
  return (psn + count) & kPsnMask;
}
// How many packets a message of `bytes` is.
constexpr uint32_t PacketsOf(uint64_t bytes, uint64_t mtu) {
  return bytes == 0 ? 1 : static_cast<uint32_t>((bytes + mtu - 1) / mtu);
}
}  // namespace rc

class RcLink {
 public:
  virtual ~RcLink() = default;

  virtual const prm::QpContext& qp() const = 0;
  virtual Timers& timers() = 0;
  virtual MemoryTable& memory() = 0;

  struct Outgoing {
    uint8_t opcode = 0;
    uint32_t psn = 0;
    bool ack_request = false;
    bool solicited = false;
  };
  virtual void Send(const Outgoing& packet, std::span<const std::byte> headers,
                    std::span<const std::byte> payload) = 0;

  // Work requests, and how they ended.
  virtual SendQueue::Fetched FetchSend(SendWqe& wqe) = 0;
  virtual void EndSend(const SendWqe& wqe, uint32_t byte_count) = 0;
  virtual void AbortSend(const SendWqe& wqe, prm::CqeSyndrome syndrome) = 0;
  virtual ReceiveSource::Fetched FetchReceive(ReceiveWqe& wqe) = 0;
  virtual void EndReceive(const prm::Cqe& entry, bool solicited) = 0;
  virtual void AbortReceive(uint16_t counter, prm::CqeSyndrome syndrome) = 0;

  // The queue pair goes into the error state; `event` tells, if there is one.
  virtual void Break() = 0;
  virtual void Break(prm::EventType event) = 0;

  uint64_t mtu() const { return uint64_t{128} << qp().mtu; }
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_RC_LINK_H_
