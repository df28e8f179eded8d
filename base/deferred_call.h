// DeferredCall: a function that is called soon, once for all who ask for it.
#ifndef IBEMU_BASE_DEFERRED_CALL_H_
#define IBEMU_BASE_DEFERRED_CALL_H_

#include <functional>
#include <memory>
#include <utility>

#include "base/timers.h"

namespace ibemu {

// A DeferredCall calls its function when the current handler has returned: once
// for all requests until then, and not at all when it is destroyed before.  For
// what must not be done in the middle of another's call.
class DeferredCall {
 public:
  // `timers` must outlive this.  `function` may destroy it.
  DeferredCall(Timers& timers, std::function<void()> function)
      : timers_(timers),
        pending_(std::make_shared<Pending>(std::move(function))) {}
  DeferredCall(const DeferredCall&) = delete;
  DeferredCall& operator=(const DeferredCall&) = delete;

  void Request() {
    if (std::exchange(pending_->requested, true)) return;
    timers_.RunSoon([weak = std::weak_ptr(pending_)] {
      const auto pending = weak.lock();
      if (!pending) return;
      pending->requested = false;
      pending->function();
    });
  }

 private:
  struct Pending {
    explicit Pending(std::function<void()> called)
        : function(std::move(called)) {}
    const std::function<void()> function;
    bool requested = false;
  };

  Timers& timers_;
  const std::shared_ptr<Pending> pending_;  // expires with this
};

}  // namespace ibemu

#endif  // IBEMU_BASE_DEFERRED_CALL_H_
