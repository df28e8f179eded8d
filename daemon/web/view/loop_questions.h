// LoopQuestions: functions of other threads that have to run on the loop.
#ifndef IBEMU_DAEMON_WEB_VIEW_LOOP_QUESTIONS_H_
#define IBEMU_DAEMON_WEB_VIEW_LOOP_QUESTIONS_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A LoopQuestions lets the threads of the web server read and change what
// belongs to the loop.  A question runs wholly or not at all.
class LoopQuestions {
 public:
  // `patience`: the time for which a question waits for the loop.
  explicit LoopQuestions(Loop& loop,
                         absl::Duration patience = absl::Seconds(10));

  // Runs `question` on the loop thread and returns when it has ended.  To be
  // called by any other thread.  Returns false if the loop did not come to it
  // in time, or Close() was called; then it will not run.
  bool Ask(absl::FunctionRef<void()> question);

  // To be called when the loop has ended: questions that wait, and later ones,
  // fail.
  void Close();

 private:
  struct Shared;

  Loop& loop_;
  const absl::Duration patience_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_VIEW_LOOP_QUESTIONS_H_
