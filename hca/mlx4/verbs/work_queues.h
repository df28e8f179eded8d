// The rings of a queue pair, in memory that adapter and driver share.
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

// A piece of memory as the adapter is told of it.
struct WqePointer {
  uint64_t iova = 0;
  uint32_t size = 0;  // bytes
  uint32_t lkey = 0;
};

// One WQE of a receive queue: a pointer, or nothing when it has no bytes.
void WriteReceivePointer(const WqePointer& pointer, std::byte* place);
// A doorbell record that counts 16 bits.
void WriteCounter(DmaMemory& record, uint32_t count);

// 2 to the power of the result are at least `count`.
int LogOf(uint32_t count);

class WorkQueues {
 public:
  static constexpr int kLogSends = 7;
  static constexpr uint32_t kSends = 1u << kLogSends;

  // `log_stride`: of a send WQE, in bytes.  `receives`: at least so many; 0:
  // there is no receive queue.  `resources` must outlive it.
  //
  // Errors: those of memory.
  static absl::StatusOr<std::unique_ptr<WorkQueues>> Create(
      Resources& resources, int log_stride, uint32_t receives);

  // What a context says of them.
  void Describe(prm::QpContext& context) const;

  // As the adapter expects them of a queue pair that leaves the reset state.
  void Reset();

  // The adapter reads ahead: some WQEs behind the last are kept invalid.
  uint32_t send_room() const { return kSends - spare_ - (posted_ - sent_); }
  // `wqe`: of 16 bytes at least, its owner's bit is set here.  It is not looked
  // at before Ring().
  void PostSend(std::span<const std::byte> wqe);
  void Ring(uint32_t qpn);
  // The oldest was completed.
  void OnSent() { ++sent_; }

  // There is room for as many as Create() was told.
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
  // All count on and on.
  uint32_t posted_ = 0, sent_ = 0, receives_posted_ = 0;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_WORK_QUEUES_H_
