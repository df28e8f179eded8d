// ThreadHandoff: threads that run one body in turn: another one goes on with it
// when a system call holds up the one that runs it.
#ifndef IBEMU_LOOP_THREAD_HANDOFF_H_
#define IBEMU_LOOP_THREAD_HANDOFF_H_

#include <functional>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace ibemu {

// A ThreadHandoff has one thread that runs the body, and one that watches it. A
// system call that may be held up, for ever perhaps, is made by the thread that
// runs the body: when it takes too long, the one that watches runs the body
// from then on, and the one that was held up leaves.  (Go's scheduler hands off
// a processor in this way when a goroutine is in a system call.)
//
// A call that is not held up costs two atomic operations and no switch.
class ThreadHandoff {
 public:
  // A call may take at least `timeout`, and at most twice that.
  explicit ThreadHandoff(absl::Duration timeout);
  // Threads that are held up are left behind; they end when they may.
  ~ThreadHandoff();

  ThreadHandoff(const ThreadHandoff&) = delete;
  ThreadHandoff& operator=(const ThreadHandoff&) = delete;

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

#endif  // IBEMU_LOOP_THREAD_HANDOFF_H_
