// The control socket's method that tells of pitfalls.
#ifndef IBEMU_DAEMON_WHY_LINT_METHODS_H_
#define IBEMU_DAEMON_WHY_LINT_METHODS_H_

#include "absl/status/statusor.h"
#include "base/timers.h"
#include "control/method_table.h"
#include "daemon/why/diagnosis.h"
#include "daemon/why/ended_contexts.h"
#include "fabric/fabric.h"
#include "fabric/history/queue_pair_history.h"

namespace ibemu::daemon {

// A LintMethods has queue_pair.lint, for `ibemu run --lint`: what worked here,
// and may fail or hang on hardware.
class LintMethods {
 public:
  // All must outlive this.
  LintMethods(Timers& timers, const fabric::Fabric& fabric,
              const Diagnosis& diagnosis, const EndedContexts& contexts)
      : timers_(timers),
        fabric_(fabric),
        diagnosis_(diagnosis),
        contexts_(contexts) {}

  // Adds queue_pair.lint: {"node": "node-1", "since_ns": 0}.  The answer has
  // "findings", FindPitfalls() of programs' queue pairs that have ended, or
  // changed their state, since then, and of uverbs files that they have closed;
  // each with "node", "qpn" (null: of a file), "pid", "rule" and "what"; and
  // "now_ns".  Times are those of events.  This must outlive
  // `dispatcher`'s last call.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Lint(control::Parameters& parameters) const;
  // Returns the facts of the other end if it is connected to this one.
  const fabric::QueuePairFacts* PeerOf(
      uint32_t qpn, const fabric::QueuePairHistory& history) const;

  Timers& timers_;
  const fabric::Fabric& fabric_;
  const Diagnosis& diagnosis_;
  const EndedContexts& contexts_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_LINT_METHODS_H_
