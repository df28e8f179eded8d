// The objects behind one open uverbs file: the kernel's side of libibverbs.
#ifndef IBEMU_VERBS_UVERBS_CONTEXT_H_
#define IBEMU_VERBS_UVERBS_CONTEXT_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/timers.h"
#include "verbs/provider.h"
#include "verbs/uverbs/command.h"
#include "verbs/uverbs/event_queue.h"
#include "verbs/uverbs/handle_table.h"
#include "verbs/uverbs/objects.h"

namespace ibemu::verbs {

// The outcome of a command.
struct Answer {
  absl::Status status;
  std::vector<std::byte> response;  // for the client's memory, at `address`
  uint64_t address = 0;
  // Destroys the object that was created, if the response can't be written; may
  // be null.
  absl::AnyInvocable<void()> undo;
};

// A Context carries out the commands of one open uverbs file
// (drivers/infiniband/core/uverbs_cmd.c) and owns the objects that they create.
// Destroying a context destroys what its client has left.
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
class Context final : private DeviceListener {
 public:
  // A Client is what a Context needs of its front end beyond write().
  class Client {
   public:
    // Gives the process of thread `caller` a descriptor that reads `queue`.
    //
    // Errors: Aborted.
    enum class Events { kAsynchronous, kCompletion };
    virtual absl::StatusOr<int> GiveDescriptor(
        Events events, pid_t caller, std::shared_ptr<EventQueue> queue) = 0;

    // Returns the memory of the process of thread `caller`.
    virtual std::shared_ptr<Memory> MemoryOf(pid_t caller) = 0;

   protected:
    ~Client() = default;
  };

  // All arguments must outlive the context.
  Context(Provider& provider, Client& client, Timers& timers)
      : provider_(provider), client_(client), timers_(timers) {}
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Carries out the command that thread `caller` wrote.  `done` is called once:
  // before this returns, or later if the command has to wait for memory of the
  // client or, as an empty poll, for completions; not at all if the context
  // ends before.
  using Done = absl::AnyInvocable<void(Answer)>;
  void Execute(Bytes written, pid_t caller, Done done);

 private:
  // A command that is being carried out.  A handler that answers later moves
  // `done` out.
  struct Call {
    Bytes request;
    pid_t caller;
    uint64_t address;
    size_t room;
    Done done;
    std::vector<std::byte> response{};
    absl::AnyInvocable<void()> undo{};
  };
  using Handler = absl::Status (Context::*)(Call&);
  struct Method;
  static const Method* FindMethod(const Command& command);

  void OnDeviceEvent(EventType type, int port) override;

  absl::Status GetContext(Call& call);
  absl::Status QueryDevice(Call& call);
  absl::Status QueryDeviceExtended(Call& call);
  absl::Status QueryPort(Call& call);

  absl::Status AllocPd(Call& call);
  absl::Status DeallocPd(Call& call);
  absl::Status RegMr(Call& call);
  Answer AddMr(uint32_t pd_handle, MrInit init,
               absl::StatusOr<std::unique_ptr<Memory::Pin>> pin);
  absl::Status DeregMr(Call& call);
  absl::Status CreateAh(Call& call);
  absl::Status DestroyAh(Call& call);

  absl::Status CreateCompChannel(Call& call);
  absl::Status CreateCq(Call& call);
  absl::Status ResizeCq(Call& call);
  absl::Status DestroyCq(Call& call);
  absl::Status PollCq(Call& call);
  absl::Status TakeCompletions(uint32_t handle, size_t most,
                               std::vector<std::byte>& response);
  void EndPoll(uint64_t number);
  void EndPollsSoon();
  absl::Status ReqNotifyCq(Call& call);

  absl::Status CreateQp(Call& call);
  absl::Status QueryQp(Call& call);
  absl::Status ModifyQp(Call& call);
  absl::Status DestroyQp(Call& call);
  absl::Status AttachMcast(Call& call);
  absl::Status DetachMcast(Call& call);

  absl::Status CreateSrq(Call& call);
  absl::Status ModifySrq(Call& call);
  absl::Status QuerySrq(Call& call);
  absl::Status DestroySrq(Call& call);

  absl::Status PostSend(Call& call);
  absl::Status PostRecv(Call& call);
  absl::Status PostSrqRecv(Call& call);

  // Looks up the objects that `request` names.
  //
  // Errors: InvalidArgument, a type that programs can't create or a bad handle.
  absl::StatusOr<QpInit> InitOf(const ib_uverbs_create_qp& request) const;
  absl::Status Post(QpObject& qp, std::span<SendRequest> sends,
                    size_t& taken) const;
  // Reads the inline data of the requests from the client, then posts them.
  void PostInline(Call& call, uint32_t qp, std::vector<SendRequest> requests);

  // A POLL_CQ that found nothing and has not been answered yet.
  struct Poll {
    uint32_t cq;
    size_t most;  // completions
    uint64_t address;
    Done done;
    TimerId end;
  };

  Provider& provider_;
  Client& client_;
  Timers& timers_;
  std::shared_ptr<EventQueue> async_;  // null before GET_CONTEXT
  absl::flat_hash_map<int, std::weak_ptr<EventQueue>> channels_;

  uint64_t last_poll_ = 0;
  bool polls_end_soon_ = false;
  absl::flat_hash_map<uint64_t, Poll> polls_;

  // An object comes after those that it uses, so that it is destroyed first.
  HandleTable<PdObject> pds_;
  HandleTable<MrObject> mrs_;
  HandleTable<AhObject> ahs_;
  HandleTable<CqObject> cqs_;
  HandleTable<SrqObject> srqs_;
  HandleTable<QpObject> qps_;
  // Null inside once the context has ended; callbacks that run later check
  // that.
  std::shared_ptr<Context*> self_ = std::make_shared<Context*>(this);
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_CONTEXT_H_
