// SolicitedCompletions: a record of which completions in an adapter's queue are
// solicited.
#ifndef IBEMU_HCA_MLX4_VERBS_SOLICITED_COMPLETIONS_H_
#define IBEMU_HCA_MLX4_VERBS_SOLICITED_COMPLETIONS_H_

#include <cstdint>
#include <optional>

#include "hca/prm/mlx4_completion.h"
#include "verbs/parts/solicited_events.h"

namespace ibemu::hca::mlx4 {

struct QueuePairCore;

// Tells which completions of a queue pair's completion queue are solicited.
// Entries don't say it, but the queue's context says which one was the last;
// of those before it nothing is known, so a client may be notified before the
// last one is in its memory: once too often rather than not at all.
class SolicitedCompletions final : public verbs::SolicitedEvents {
 public:
  // `core` must outlive this object.
  explicit SolicitedCompletions(const QueuePairCore& core) : core_(core) {}
  SolicitedCompletions(const SolicitedCompletions&) = delete;
  SolicitedCompletions& operator=(const SolicitedCompletions&) = delete;

  // `index` is Mlx4Cq::index() after the completion was taken out.  The adapter
  // is asked if it has not been since then.
  bool MayBeSolicited(uint32_t index) override;

  // Called when completions are about to be taken out.
  void Forget() { known_.reset(); }

 private:
  const QueuePairCore& core_;
  std::optional<prm::CqContext> known_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_SOLICITED_COMPLETIONS_H_
