// Mlx4Eq: an event queue of the mlx4 family.
#ifndef IBEMU_HCA_MLX4_CORE_MLX4_EQ_H_
#define IBEMU_HCA_MLX4_CORE_MLX4_EQ_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "hca/mlx4/core/resources.h"
#include "hca/prm/mlx4_events.h"

namespace ibemu::hca::mlx4 {

// An Mlx4Eq receives the completion events of the CQs that were created with
// its number, and the asynchronous events that Subscribe() asks for.
class Mlx4Eq {
 public:
  // Creates a queue of 2^`log_entries` entries, at least a page's 128, which
  // signals the interrupt `vector`.  `resources` must outlive it.
  //
  // Errors: those of memory, numbers and commands.
  static absl::StatusOr<std::unique_ptr<Mlx4Eq>> Create(Resources& resources,
                                                        int log_entries,
                                                        int vector);
  ~Mlx4Eq();
  Mlx4Eq(const Mlx4Eq&) = delete;
  Mlx4Eq& operator=(const Mlx4Eq&) = delete;

  uint32_t number() const { return number_; }

  // Directs the asynchronous events of `mask` (prm::EventBit) to this queue
  // from now on.
  absl::Status Subscribe(uint64_t mask);

  // Passes the events that are there to `handle`, at most as many as the queue
  // holds, then asks for an interrupt for the next one.  Returns whether those
  // were all.
  bool Poll(const std::function<void(const prm::Eqe&)>& handle);

 private:
  Mlx4Eq(Resources& resources, uint32_t number, int log_entries,
         std::unique_ptr<QueueMemory> memory)
      : resources_(resources),
        number_(number),
        log_entries_(log_entries),
        memory_(std::move(memory)) {}

  void RingDoorbell(bool arm);

  Resources& resources_;
  const uint32_t number_;
  const int log_entries_;
  const std::unique_ptr<QueueMemory> memory_;
  bool running_ = false;
  uint64_t subscribed_ = 0;
  uint32_t next_ = 0;  // running count of events taken out
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_MLX4_EQ_H_
