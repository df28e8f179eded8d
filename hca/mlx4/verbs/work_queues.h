// WorkQueues: the rings of a queue pair, in memory that the adapter and the
// driver share.
#ifndef IBEMU_HCA_MLX4_VERBS_WORK_QUEUES_H_
#define IBEMU_HCA_MLX4_VERBS_WORK_QUEUES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "hca/mlx4/core/resources.h"
#include "hca/prm/mlx4_qp.h"

namespace ibemu::hca::mlx4 {

// A range of memory as a WQE refers to it (an SGE).
struct WqePointer {
  uint64_t iova = 0;
  uint32_t size = 0;  // bytes
  uint32_t lkey = 0;
};

// Writes a WQE of a receive queue: a pointer, or none if `pointer` has no
// bytes.
void WriteReceivePointer(const WqePointer& pointer, std::byte* place);
// Writes a doorbell record, which has the low 16 bits of `count`.
void WriteCounter(DmaMemory& record, uint32_t count);

// Returns the smallest n for which 2^n is at least `count`.
int LogOf(uint32_t count);

// A WorkQueues has a send ring of kSends WQEs of one size, and a receive ring
// whose WQEs have one pointer each, unless the queue pair has an SRQ.  The
// requests behind the WQEs are its owner's.
class WorkQueues {
 public:
  static constexpr int kLogSends = 7;
  static constexpr uint32_t kSends = 1u << kLogSends;

  // `log_stride`: the log of the bytes of a send WQE.  `receives`: the least
  // number of receive WQEs; 0 for no receive queue.  `resources` must outlive
  // it.
  //
  // Errors: those of memory.
  static absl::StatusOr<std::unique_ptr<WorkQueues>> Create(
      Resources& resources, int log_stride, uint32_t receives);

  // Sets the part of `context` that describes the rings.
  void Describe(prm::QpContext& context) const;

  // Makes the rings as the adapter expects them of a queue pair that leaves the
  // reset state.
  void Reset();

  // Returns the number of send WQEs that can be posted.  The adapter reads
  // ahead, so some WQEs behind the last one are kept invalid.
  uint32_t send_room() const { return kSends - spare_ - (posted_ - sent_); }
  // Adds a send WQE of at least 16 bytes, and sets its owner bit.  The adapter
  // does not look at it before Ring().
  void PostSend(std::span<const std::byte> wqe);
  void Ring(uint32_t qpn);
  // Called when the oldest send WQE was completed.
  void OnSent() { ++sent_; }

  // Adds a receive WQE.  There is room for as many as Create() was told.
  void PostReceive(const WqePointer& pointer);

 private:
  WorkQueues(Resources& resources, int log_stride, int log_receives,
             std::unique_ptr<QueueMemory> memory,
             std::unique_ptr<DmaMemory> record);

  void Stamp(uint32_t index);
  std::byte* SendPlace(uint32_t index);

  Resources& resources_;
  const int log_stride_;
  const int log_receives_;  // -1: none
  const uint32_t spare_;
  const std::unique_ptr<QueueMemory> memory_;
  const std::unique_ptr<DmaMemory> record_;
  // Running counts.
  uint32_t posted_ = 0, sent_ = 0, receives_posted_ = 0;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_WORK_QUEUES_H_
