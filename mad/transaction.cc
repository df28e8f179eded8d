#include "mad/transaction.h"

#include <algorithm>
#include <utility>

namespace ibemu::mad {

Transaction& TransactionTable::Add(uint64_t tid) {
  std::unique_ptr<Transaction> transaction;
  if (spares_.empty()) {
    transaction = std::make_unique<Transaction>();
  } else {
    transaction = std::move(spares_.back());
    spares_.pop_back();
  }
  transaction->tid = tid;
  return *by_tid_[tid].emplace_back(std::move(transaction));
}

std::span<const std::unique_ptr<Transaction>> TransactionTable::With(
    uint64_t tid) const {
  const auto found = by_tid_.find(tid);
  if (found == by_tid_.end()) return {};
  return found->second;
}

void TransactionTable::Remove(const Transaction& transaction) {
  const auto found = by_tid_.find(transaction.tid);
  if (found == by_tid_.end()) return;
  Transactions& same_tid = found->second;
  const auto place = std::find_if(
      same_tid.begin(), same_tid.end(),
      [&](const auto& candidate) { return candidate.get() == &transaction; });
  if (place == same_tid.end()) return;

  std::unique_ptr<Transaction> removed = std::move(*place);
  same_tid.erase(place);
  if (same_tid.empty()) by_tid_.erase(found);
  if (spares_.size() == kSpares) return;
  removed->rmpp.reset();
  removed->timer = TimerId::kNone;
  spares_.push_back(std::move(removed));
}

}  // namespace ibemu::mad
