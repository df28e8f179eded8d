// CommandCall: a command that is being carried out.
#ifndef IBEMU_VERBS_UVERBS_COMMAND_CALL_H_
#define IBEMU_VERBS_UVERBS_COMMAND_CALL_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "verbs/uverbs/command.h"

namespace ibemu::verbs {

// The outcome of a command.
struct Answer {
  absl::Status status;
  std::vector<std::byte> response;  // for the client's memory, at `address`
  uint64_t address = 0;
  // Destroys the object that was created, if the response can't be written and
  // nothing uses the object; may be null.
  absl::AnyInvocable<void()> undo;
};

// The data of a POST_SEND, read from a process's memory at the addresses that
// its SGEs name: those of the requests that send data, one after the other.
struct ReadData {
  uint64_t reader = 0;  // Memory::process()
  Bytes bytes;
};

// A command on its way through its handler, which fills in `response` and
// `undo`.  A handler that answers later moves `done` out.
struct CommandCall {
  using Done = absl::AnyInvocable<void(Answer)>;

  Bytes request;     // behind the headers
  pid_t caller;      // the thread that wrote it; 0: none waits for it
  uint64_t address;  // of the response; 0: none
  size_t room;       // for the response, in bytes
  Done done;
  // The data of a POST_SEND, if the client itself has read them.
  std::optional<ReadData> data{};
  // False: the client knows that all requests of its POST_SEND or POST_RECV are
  // taken, see Qp::promise(), and goes on.
  bool awaited = true;
  std::vector<std::byte> response{};
  absl::AnyInvocable<void()> undo{};
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_COMMAND_CALL_H_
