#include "hca/model/mlx4/core/queue_use.h"

#include <algorithm>

namespace ibemu::hca::model::mlx4 {

std::string_view QueueKindName(QueueKind kind) {
  switch (kind) {
    case QueueKind::kEvents:
      return "eq";
    case QueueKind::kCompletions:
      return "cq";
    case QueueKind::kSends:
      return "sq";
    case QueueKind::kReceives:
      return "rq";
    case QueueKind::kShared:
      return "srq";
  }
  return "";
}

void EntryCount::Resize(uint32_t size) {
  Finish();
  sort_.size = size;
  entries_ = 0;
}

void EntryCount::Finish() {
  if (entries_ == 0) return;
  QueueUse& use = uses_[sort_];
  use.least = use.queues == 0 ? entries_ : std::min(use.least, entries_);
  use.most = std::max(use.most, entries_);
  ++use.queues;
}

}  // namespace ibemu::hca::model::mlx4
