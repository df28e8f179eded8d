// Threads that run a loop one after the other.
#ifndef IBEMU_LOOP_RELAY_H_
#define IBEMU_LOOP_RELAY_H_

#include <functional>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace ibemu {

// One thread of several runs the body.  A system call that may be held up, for
// ever perhaps, is made by that very thread: when it takes too long, the thread
// that watches runs the body from then on, and the one that was held up leaves.
// (Go's scheduler treats system calls of goroutines in this way.)
//
// A call that is not held up costs two atomic operations and no switch.
class Relay {
 public:
  // Calls may take so long: between `patience` and twice that.
  explicit Relay(absl::Duration patience);
  // Threads that are held up are left behind; they end when they may.
  ~Relay();

  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Runs `body` on threads of its own until it returns true.  Once.
  void Run(std::function<bool()> body);

  // From the body: makes `call`.  False when the thread was replaced meanwhile:
  // it must then return false from the body, and touch nothing that is the
  // body's.
  bool Try(absl::FunctionRef<void()> call);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace ibemu

#endif  // IBEMU_LOOP_RELAY_H_
