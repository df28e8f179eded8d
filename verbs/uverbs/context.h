// Context: the kernel's side of libibverbs behind one open uverbs file.
#ifndef IBEMU_VERBS_UVERBS_CONTEXT_H_
#define IBEMU_VERBS_UVERBS_CONTEXT_H_

#include <sys/types.h>

#include <optional>

#include "absl/status/status.h"
#include "base/timers.h"
#include "verbs/adapter_identity.h"
#include "verbs/provider.h"
#include "verbs/uverbs/ah_commands.h"
#include "verbs/uverbs/command.h"
#include "verbs/uverbs/command_call.h"
#include "verbs/uverbs/command_table.h"
#include "verbs/uverbs/context_client.h"
#include "verbs/uverbs/context_objects.h"
#include "verbs/uverbs/cq_commands.h"
#include "verbs/uverbs/memory_commands.h"
#include "verbs/uverbs/qp_commands.h"
#include "verbs/uverbs/srq_commands.h"
#include "verbs/uverbs/work_request_commands.h"

namespace ibemu::verbs {

// A Context carries out the commands of one open uverbs file
// (drivers/infiniband/core/uverbs_cmd.c) and owns the objects that they create.
// Commands about the file and the device are its own; a class of handlers
// (QpCommands and so on) has those for each kind of object.  Destroying a
// context destroys what its client has left.
//
// Errors of commands:
//   InvalidArgument     what Linux refuses with EINVAL, bad handles included
//   FailedPrecondition  something still uses the object
//   OutOfRange          no room for the response
//   ResourceExhausted   the device or a queue has no room
//   Unimplemented       the device does not have this
//   Aborted             no descriptor can be given
//   DataLoss            the client has no memory there
//   Unavailable         the device is gone
class Context final : private AsyncEventListener {
 public:
  // All references must outlive the context.
  Context(Provider& provider, AdapterIdentity identity, ContextClient& client,
          Timers& timers);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Carries out the command that thread `caller` wrote.  `done` is called once:
  // before this returns, or later if the command has to wait for memory of the
  // client or, as an empty poll, for completions; not at all if the context
  // ends before.  With `caller` 0 no thread waits in a write(), and commands
  // that need its memory or a descriptor fail.  `data`: of a POST_SEND, if the
  // client has read what it sends.  `awaited`: see CommandCall.
  void Execute(Bytes written, pid_t caller, CommandCall::Done done,
               std::optional<ReadData> data = std::nullopt,
               bool awaited = true);

  // Polls what the client has taken by itself (ClientCompletions).
  void PollTaken() { cqs_.PollTaken(); }

  const ContextObjects& objects() const { return objects_; }
  // Returns the process that did GET_CONTEXT, see Memory::process(); 0: none
  // has yet.
  uint64_t process() const override { return objects_.process; }

 private:
  void OnDeviceEvent(AsyncEventType type, int port) override;
  bool IsOfProgram() const override { return true; }

  DeviceAttributes Attributes() const;
  absl::Status GetContext(CommandCall& call);
  absl::Status QueryDevice(CommandCall& call);
  absl::Status QueryDeviceExtended(CommandCall& call);
  absl::Status QueryPort(CommandCall& call);

  Provider& provider_;
  const AdapterIdentity identity_;
  ContextClient& client_;
  ContextObjects objects_;
  CommandTable table_;
  MemoryCommands memory_;
  AhCommands ahs_;
  CqCommands cqs_;
  QpCommands qps_;
  SrqCommands srqs_;
  WorkRequestCommands work_requests_;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_CONTEXT_H_
