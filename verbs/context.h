// What one open uverbs file has made: the kernel's side of libibverbs.
#ifndef IBEMU_VERBS_CONTEXT_H_
#define IBEMU_VERBS_CONTEXT_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "verbs/command.h"
#include "verbs/event_queue.h"
#include "verbs/provider.h"

namespace ibemu::verbs {

// What becomes of a command.
struct Answer {
  absl::Status status;
  std::vector<std::byte> response;  // for the client's memory, at `address`
  uint64_t address = 0;
  // Takes back what was made, if the response can't be written; may be null.
  absl::AnyInvocable<void()> undo;
};

// The commands of drivers/infiniband/core/uverbs_cmd.c.  Destroying a context
// destroys what its client has left.
//
// Errors of commands:
//   InvalidArgument     what Linux refuses with EINVAL, bad handles included
//   OutOfRange          no room for the response
//   Unimplemented       the device does not have this
//   Aborted             no descriptor can be given
//   Unavailable         the device is gone
class Context {
 public:
  // The front end's part: what lies beyond write().
  class Client {
   public:
    virtual ~Client() = default;

    // Gives the process of thread `caller` a descriptor that reads `queue`.
    //
    // Errors: Aborted.
    enum class Events { kAsynchronous, kCompletion };
    virtual absl::StatusOr<int> GiveDescriptor(
        Events events, pid_t caller, std::shared_ptr<EventQueue> queue) = 0;
  };

  // Both must outlive it.
  Context(Provider& provider, Client& client)
      : provider_(provider), client_(client) {}

  // Carries out what thread `caller` wrote.
  Answer Execute(Bytes written, pid_t caller);

 private:
  // A command under way.
  struct Call {
    Bytes request;
    pid_t caller;
    std::vector<std::byte> response{};
    absl::AnyInvocable<void()> undo{};
  };
  using Handler = absl::Status (Context::*)(Call&);
  struct Method;
  static const Method* FindMethod(const Command& command);

  absl::Status GetContext(Call& call);
  absl::Status QueryDevice(Call& call);
  absl::Status QueryDeviceExtended(Call& call);
  absl::Status QueryPort(Call& call);

  Provider& provider_;
  Client& client_;
  std::shared_ptr<EventQueue> async_;  // null before GET_CONTEXT
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_CONTEXT_H_
