// QueuePairCore: the part of a queue pair that its two queues know.
#ifndef IBEMU_HCA_MLX4_VERBS_QUEUE_PAIR_CORE_H_
#define IBEMU_HCA_MLX4_VERBS_QUEUE_PAIR_CORE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "hca/mlx4/verbs/adapter_qp.h"
#include "hca/mlx4/verbs/qp_life.h"
#include "hca/mlx4/verbs/solicited_completions.h"
#include "verbs/parts/completion_queue.h"
#include "verbs/parts/send_queue_entries.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

class Mlx4Srq;
class VerbsProvider;

// The state and the attributes of a queue pair, and its users.  The queue pair
// changes them, its queues read them.
struct QueuePairCore {
  // `fail` puts the queue pair into the error state because of an error that
  // the adapter does not know of.
  QueuePairCore(std::shared_ptr<VerbsProvider> provider,
                const verbs::QpInit& init, verbs::ObjectListener& listener,
                std::function<void()> fail);

  bool broken() const { return state == verbs::QpState::kError; }
  bool is_datagram() const { return init.type == verbs::QpType::kUd; }
  Mlx4Srq* srq() const;
  verbs::CompletionQueue& send_cq() const;
  verbs::CompletionQueue& receive_cq() const;
  // Drops the completions that the client has not polled.
  void ForgetCompletions();

  // Add completions for the client; `entry` is the request's in the send queue,
  // `index` that of the adapter's completion (none of requests that it did not
  // complete, which failed).  If a completion is lost the queue pair fails.
  void CompleteSend(const verbs::WorkCompletion& completion, uint64_t entry);
  void CompleteReceive(const verbs::WorkCompletion& completion, uint32_t index);

  const std::shared_ptr<VerbsProvider> provider;
  const verbs::QpInit init;
  verbs::ObjectListener& listener;
  const std::function<void()> fail;
  AdapterQp adapter_qp;
  verbs::QpState state = verbs::QpState::kReset;
  verbs::QpAttributes attributes{};
  bool gone = false;  // the adapter or its completion queue is gone
  // The client heard of a fatal error because a completion was lost.
  bool told_of_loss = false;
  verbs::SendQueueEntries send_entries;
  SolicitedCompletions solicited{*this};
  QpLife life;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_QUEUE_PAIR_CORE_H_
