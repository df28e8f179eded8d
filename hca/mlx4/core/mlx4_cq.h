// Mlx4Cq: a completion queue of the mlx4 family.
#ifndef IBEMU_HCA_MLX4_CORE_MLX4_CQ_H_
#define IBEMU_HCA_MLX4_CORE_MLX4_CQ_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "hca/mlx4/core/resources.h"
#include "hca/prm/mlx4_completion.h"

namespace ibemu::hca::mlx4 {

// A completion.  `error` is set if the request failed; then only qpn, is_send
// and wqe_counter of `entry` are valid.
struct Completion {
  prm::Cqe entry;
  std::optional<prm::ErrorCqe> error;
};

// An Mlx4Cq is in use by the adapter from Create() until it is destroyed.
// Poll() frees the entry that it takes out for the next completion.
class Mlx4Cq {
 public:
  // Creates a queue of 2^`log_entries` entries, at least a page's 128, whose
  // completion events go to EQ `eqn`.  `resources` must outlive it.
  //
  // Errors: those of memory, numbers and commands.
  static absl::StatusOr<std::unique_ptr<Mlx4Cq>> Create(Resources& resources,
                                                        int log_entries,
                                                        uint32_t eqn);
  ~Mlx4Cq();
  Mlx4Cq(const Mlx4Cq&) = delete;
  Mlx4Cq& operator=(const Mlx4Cq&) = delete;

  uint32_t number() const { return number_; }

  // Returns the number of completions that were taken out; it has 24 bits.
  uint32_t index() const;

  // Takes the oldest completion out; none if the queue is empty.
  std::optional<Completion> Poll();

  // Asks for one event, for the next completion or for one that is already
  // there.
  void Arm();
  // Called when the event that Arm() asked for has come.
  void OnEvent() { ++arm_sequence_; }

 private:
  Mlx4Cq(Resources& resources, uint32_t number, int log_entries,
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
  uint32_t next_ = 0;  // running count of completions taken out
  prm::CqDoorbellRecord record_;
  // Distinguishes a repetition from a new request for an event; the adapter is
  // told the low two bits.
  uint32_t arm_sequence_ = 1;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_MLX4_CQ_H_
