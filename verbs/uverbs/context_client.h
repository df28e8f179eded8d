// ContextClient: the interface of a Context to its front end.
#ifndef IBEMU_VERBS_UVERBS_CONTEXT_CLIENT_H_
#define IBEMU_VERBS_UVERBS_CONTEXT_CLIENT_H_

#include <sys/types.h>

#include <memory>

#include "absl/status/statusor.h"
#include "verbs/memory.h"
#include "verbs/uverbs/client_completions.h"
#include "verbs/uverbs/event_queue.h"

namespace ibemu::verbs {

struct QpObject;

// The client of a Context, as far as its commands need more of it than write():
// a front end implements it.
class ContextClient {
 public:
  // Gives the process of thread `caller` a descriptor that reads `queue`.
  //
  // Errors: Aborted.
  enum class Events { kAsynchronous, kCompletion };
  virtual absl::StatusOr<int> GiveDescriptor(
      Events events, pid_t caller, std::shared_ptr<EventQueue> queue) = 0;

  // Returns the memory of the process of thread `caller`.
  virtual std::shared_ptr<Memory> MemoryOf(pid_t caller) = 0;

  // Returns where the client takes completions of a queue by itself; null: it
  // asks for each.  PlaceFor() gives the queue a place if there is one, which
  // it has until OnCqGone().
  virtual ClientCompletions* CompletionsOf(uint32_t /*cq*/) { return nullptr; }
  virtual ClientCompletions* PlaceFor(uint32_t /*cq*/) { return nullptr; }
  virtual void OnCqGone(uint32_t /*cq*/) {}
  // Returns true if the client may take completions that come now.
  virtual bool MayTake() { return true; }
  // A completion has come to a queue.
  virtual void OnArrival() {}

  // A message of a queue pair has found no receive request: what the client has
  // posted without waiting is to be carried out before this returns.
  virtual void OnNoReceive() {}

  // Tells what can be posted to a queue pair, if that may have changed; null:
  // it is gone.
  virtual void OnPromise(uint32_t /*handle*/, const QpObject* /*qp*/) {}

 protected:
  ~ContextClient() = default;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_CONTEXT_CLIENT_H_
