// Outcome: a value, or why there is none.
#ifndef IBEMU_RDMA_CM_VALUES_OUTCOME_H_
#define IBEMU_RDMA_CM_VALUES_OUTCOME_H_

#include <optional>
#include <utility>

#include "rdma_cm/values/refusal.h"

namespace ibemu::rdma_cm {

// An Outcome holds a value or a Refusal other than kNone.
template <class T>
class [[nodiscard]] Outcome {
 public:
  // Implicit, so that a function returns the one or the other as it is.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Outcome(T value) : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Outcome(Refusal refusal) : refusal_(refusal) {}

  bool ok() const { return value_.has_value(); }
  Refusal refusal() const { return refusal_; }

  // REQUIRES: ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Refusal refusal_ = Refusal::kNone;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_VALUES_OUTCOME_H_
