#include "hca/mlx4/verbs/queue_pair_core.h"

#include <utility>

#include "hca/mlx4/verbs/mlx4_srq.h"
#include "hca/mlx4/verbs/verbs_provider.h"

namespace ibemu::hca::mlx4 {
namespace {

void OnLostCompletion(QueuePairCore& core) {
  if (std::exchange(core.told_of_loss, true)) return;
  core.fail();
  core.listener.OnEvent(verbs::AsyncEventType::kQpFatal);
}

}  // namespace

QueuePairCore::QueuePairCore(std::shared_ptr<VerbsProvider> provider,
                             const verbs::QpInit& init,
                             verbs::ObjectListener& listener,
                             std::function<void()> fail)
    : provider(std::move(provider)),
      init(init),
      listener(listener),
      fail(std::move(fail)),
      adapter_qp(*this->provider, init.type, srq()),
      send_entries(init.capacity.send_requests) {}

Mlx4Srq* QueuePairCore::srq() const { return static_cast<Mlx4Srq*>(init.srq); }

verbs::CompletionQueue& QueuePairCore::send_cq() const {
  return static_cast<verbs::CompletionQueue&>(*init.send_cq);
}

verbs::CompletionQueue& QueuePairCore::receive_cq() const {
  return static_cast<verbs::CompletionQueue&>(*init.receive_cq);
}

void QueuePairCore::ForgetCompletions() {
  send_cq().Forget(adapter_qp.number());
  receive_cq().Forget(adapter_qp.number());
}

void QueuePairCore::CompleteSend(const verbs::WorkCompletion& completion,
                                 uint64_t entry) {
  if (!send_cq().PushSend(completion, send_entries, entry)) {
    OnLostCompletion(*this);
  }
}

void QueuePairCore::CompleteReceive(const verbs::WorkCompletion& completion,
                                    uint32_t index) {
  if (!receive_cq().PushReceive(completion, solicited, index)) {
    OnLostCompletion(*this);
  }
}

}  // namespace ibemu::hca::mlx4
