#include "cuse/fuse/call_budget.h"

namespace ibemu::cuse {

std::shared_ptr<CallBudget> CallBudget::OfThisDaemon() {
  static const auto budget = std::make_shared<CallBudget>(kUsual, kUsualOfAll);
  return budget;
}

bool CallBudget::Share::GrowTo(size_t bytes) {
  if (bytes <= bytes_) return true;
  if (!budget_->Take(user_, bytes - bytes_)) return false;
  bytes_ = bytes;
  return true;
}

bool CallBudget::Take(uid_t user, size_t bytes) {
  size_t& taken = taken_[user];
  const bool fits =
      bytes <= of_user_ - taken && bytes <= of_all_ - taken_by_all_;
  if (fits) {
    taken += bytes;
    taken_by_all_ += bytes;
  }
  if (taken == 0) taken_.erase(user);
  return fits;
}

void CallBudget::GiveBack(uid_t user, size_t bytes) {
  if (bytes == 0) return;
  const auto taken = taken_.find(user);
  taken->second -= bytes;
  taken_by_all_ -= bytes;
  if (taken->second == 0) taken_.erase(taken);
}

}  // namespace ibemu::cuse
