// ClientCompletions: completions that a client takes by itself.
#ifndef IBEMU_VERBS_UVERBS_CLIENT_COMPLETIONS_H_
#define IBEMU_VERBS_UVERBS_CLIENT_COMPLETIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "verbs/provider.h"

namespace ibemu::verbs {

// A ClientCompletions has copies of the oldest completions of one completion
// queue where the client takes them without a command.  Those that it has taken
// are still in the queue, until somebody polls them there and says so here.
class ClientCompletions {
 public:
  // Returns how many completions are here, with those that the client has
  // taken, and how many more find room.
  virtual size_t size() const = 0;
  virtual size_t room() = 0;
  // Returns how many of these the client has taken: the oldest ones.
  virtual size_t taken() = 0;

  // Lets the client take completions from now on, if it ever may: those that
  // come, and it asks for others.  REQUIRES: size() == 0.
  virtual void Open() = 0;
  // Lets it take no more.  Only those are here then that it has taken.
  virtual void Close() = 0;
  virtual bool is_open() const = 0;

  // Adds the next completion of the queue; `qp`: the handle of its queue pair,
  // if that has one.  REQUIRES: room() > 0, is_open().
  virtual void Add(const WaitingCompletion& completion,
                   std::optional<uint32_t> qp) = 0;
  // Says whether the queue has, or may have, others than those here: then a
  // client that finds nothing here asks.
  virtual void SetMore(bool more) = 0;
  // The oldest completions are no longer in the queue.  REQUIRES: count <=
  // taken().
  virtual void OnPolled(size_t count) = 0;

 protected:
  ~ClientCompletions() = default;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_CLIENT_COMPLETIONS_H_
