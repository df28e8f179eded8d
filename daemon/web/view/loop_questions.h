// What other threads ask of things that live on the loop.
#ifndef IBEMU_DAEMON_WEB_VIEW_LOOP_QUESTIONS_H_
#define IBEMU_DAEMON_WEB_VIEW_LOOP_QUESTIONS_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "loop/loop.h"

namespace ibemu::daemon {

class LoopQuestions {
 public:
  // `patience`: how long a question waits for the loop.
  explicit LoopQuestions(Loop& loop,
                         absl::Duration patience = absl::Seconds(10));

  // Runs `question` on the loop thread and returns when it has ended; any other
  // thread may call it.  False: the loop did not come to it in time, or Close()
  // was called; it will not run then.
  bool Ask(absl::FunctionRef<void()> question);

  // The loop turns no more: all who wait give up, and so will those who ask
  // later.
  void Close();

 private:
  struct Shared;

  Loop& loop_;
  const absl::Duration patience_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_VIEW_LOOP_QUESTIONS_H_
