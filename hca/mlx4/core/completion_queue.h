// A completion queue of the mlx4 family.
#ifndef IBEMU_HCA_MLX4_CORE_COMPLETION_QUEUE_H_
#define IBEMU_HCA_MLX4_CORE_COMPLETION_QUEUE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "hca/mlx4/core/resources.h"
#include "hca/prm/mlx4_completion.h"

namespace ibemu::hca::mlx4 {

// `error` is set when the request failed; then qpn, is_send and wqe_counter are
// all that counts of `entry`.
struct Completion {
  prm::Cqe entry;
  std::optional<prm::ErrorCqe> error;
};

class CompletionQueue {
 public:
  // Its completion events go to `eqn`.  `log_entries`: as of an EventQueue.
  // `resources` must outlive it.
  static absl::StatusOr<std::unique_ptr<CompletionQueue>> Create(
      Resources& resources, int log_entries, uint32_t eqn);
  ~CompletionQueue();
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;

  uint32_t number() const { return number_; }

  // How many were taken out, and how many there were, both in 24 bits.
  uint32_t index() const;
  uint32_t end() const;

  // Takes the oldest completion out.
  std::optional<Completion> Poll();

  // Asks for one event, for the next completion or for one that is there
  // already.
  void Arm();
  // The event that Arm() asked for came.
  void OnEvent() { ++arm_sequence_; }

 private:
  CompletionQueue(Resources& resources, uint32_t number, int log_entries,
                  std::unique_ptr<QueueMemory> memory,
                  std::unique_ptr<DmaMemory> doorbell_record)
      : resources_(resources),
        number_(number),
        log_entries_(log_entries),
        memory_(std::move(memory)),
        doorbell_record_(std::move(doorbell_record)) {}

  void WriteRecord(const prm::CqDoorbellRecord& record);

  Resources& resources_;
  const uint32_t number_;
  const int log_entries_;
  const std::unique_ptr<QueueMemory> memory_;
  const std::unique_ptr<DmaMemory> doorbell_record_;
  bool running_ = false;
  uint32_t next_ = 0;  // counts on and on
  prm::CqDoorbellRecord record_;
  // Tells a repetition from a new request; two bits of it are told.
  uint32_t arm_sequence_ = 1;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_COMPLETION_QUEUE_H_
