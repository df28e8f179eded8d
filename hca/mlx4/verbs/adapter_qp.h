// AdapterQp: a queue pair as an mlx4 adapter has it.
#ifndef IBEMU_HCA_MLX4_VERBS_ADAPTER_QP_H_
#define IBEMU_HCA_MLX4_VERBS_ADAPTER_QP_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "hca/mlx4/core/mlx4_cq.h"
#include "hca/mlx4/verbs/work_queues.h"
#include "hca/prm/mlx4_qp.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

class Mlx4Srq;
class VerbsProvider;

// The number, the rings and the completion queue of a queue pair, and the
// commands that change its state.
class AdapterQp {
 public:
  // `srq`: where it takes its receive requests, or null.  All arguments must
  // outlive this object.
  AdapterQp(VerbsProvider& provider, verbs::QpType type, Mlx4Srq* srq)
      : provider_(provider), type_(type), srq_(srq) {}
  AdapterQp(const AdapterQp&) = delete;
  AdapterQp& operator=(const AdapterQp&) = delete;

  // Gets what it has of the adapter.  `receives`: the size of its own receive
  // queue; 0 with a shared one.  To be called once, and Release() after it even
  // if there was an error.
  //
  // Errors: those of memory, numbers and commands.
  absl::Status Allocate(uint32_t receives);
  // Gives all that back.  REQUIRES: the adapter does not have the queue pair.
  void Release();

  uint32_t number() const { return number_; }
  // REQUIRES: allocated and not released.
  WorkQueues& rings() { return *rings_; }
  Mlx4Cq& completions() const { return *completions_; }

  // Returns true if the adapter knows the queue pair: it is not in the reset
  // state.
  bool running() const { return running_; }

  // Leads from one state to another, but not to the reset state.  `named` are
  // the attributes that change; `wanted` are all, as they will be.
  //
  // Errors: Unimplemented if the adapter has no such transition; those of
  // commands.
  absl::Status Modify(verbs::QpState from, verbs::QpState to,
                      const verbs::QpAttributes& named,
                      const verbs::QpAttributes& wanted);
  // Leads to the error state.
  absl::Status EnterError();

  // Asks the adapter for its context; none if the adapter does not know it.
  std::optional<prm::QpContext> Query() const;

  // Takes the queue pair from the adapter, which is cut off if it does not give
  // it up.  In either case the memory of its requests is free afterwards.
  void TakeDown();
  // Called when the adapter is gone.
  void OnGone() { running_ = false; }

  // Makes the rings like those of a new queue pair, if there are any.
  void ResetRings();

 private:
  VerbsProvider& provider_;
  const verbs::QpType type_;
  Mlx4Srq* const srq_;
  uint32_t number_ = 0;
  bool has_number_ = false;
  bool running_ = false;
  std::unique_ptr<Mlx4Cq> completions_;
  std::unique_ptr<WorkQueues> rings_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_ADAPTER_QP_H_
