// The interface between uverbs objects and the adapter behind them.
#ifndef IBEMU_VERBS_PROVIDER_H_
#define IBEMU_VERBS_PROVIDER_H_

#include <rdma/ib_user_verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "verbs/memory.h"
#include "verbs/qp_attributes.h"

namespace ibemu::verbs {

// The responses of QUERY_DEVICE and QUERY_PORT.  Reserved bytes are zero, GUIDs
// in network byte order.
using DeviceAttributes = ib_uverbs_query_device_resp;
using PortAttributes = ib_uverbs_query_port_resp;

using WorkCompletion = ib_uverbs_wc;
using GidBytes = std::array<uint8_t, 16>;

// The objects of a provider follow.  Destroying one is what the driver's
// destroy_*() does.  An object must be destroyed before those that it uses,
// which Context sees to.

// A Pd is a protection domain.
class Pd {
 public:
  virtual ~Pd() = default;
};

// An Ah is an address handle.
class Ah {
 public:
  virtual ~Ah() = default;
};

// The address handle of a provider that needs no more than its attributes.  A
// datagram to a handle of another domain than the queue pair's completes with
// wc_status::kLocalQpOperation, and is not sent.
struct AddressHandle : Ah {
  AddressHandle(const Pd& its, const AddressAttributes& own)
      : pd(its), attributes(own) {}
  const Pd& pd;
  const AddressAttributes attributes;
};

// An Mr is a memory region.
class Mr {
 public:
  virtual ~Mr() = default;
  virtual uint32_t lkey() const = 0;
  virtual uint32_t rkey() const = 0;
};

// An ObjectListener hears the asynchronous (affiliated) events of an object.
class ObjectListener {
 public:
  virtual void OnEvent(AsyncEventType type) = 0;
  // Called when a message finds no receive request: those that the client has
  // posted without waiting are to be posted now.
  virtual void OnNoReceive() {}

 protected:
  ~ObjectListener() = default;
};

// A CqListener hears what happens to a completion queue.
class CqListener : public ObjectListener {
 public:
  // Called for each new completion, which may be polled at once.
  virtual void OnArrival() = 0;
  // Called once the completion has arrived for which RequestNotify() asked.
  virtual void OnCompletion() = 0;
  // Returns how many of the oldest completions the client has taken already,
  // which nobody has polled yet.
  virtual size_t taken() const { return 0; }
  // Called before completions are dropped.  Then taken() is 0 until more come.
  virtual void OnDrop() {}
  // Returns whose queue it is, see Memory::process(); 0: the host's own.
  virtual uint64_t process() const { return 0; }

 protected:
  ~CqListener() = default;
};

// A WaitingCompletion is one that nobody has polled yet.
struct WaitingCompletion {
  WorkCompletion completion;
  uint32_t frees_sends = 0;  // entries of its send queue, once it is polled
};

// A Cq is a completion queue.
class Cq {
 public:
  virtual ~Cq() = default;

  // Returns how many completions the queue holds at most.
  virtual uint32_t size() const = 0;

  // Changes the size of the queue.
  //
  // Errors: InvalidArgument if it holds more completions than that, or `size`
  // is out of limits.
  virtual absl::Status Resize(uint32_t size) = 0;

  // Returns how many completions there are to poll, without those that the
  // client has taken.
  virtual size_t waiting() const = 0;
  bool empty() const { return waiting() == 0; }

  // Moves the oldest completions to `completions` and returns how many.
  virtual size_t Poll(std::span<WorkCompletion> completions) = 0;
  // Copies the completions that Poll() would move after the `first` oldest
  // ones, and returns how many.
  virtual size_t Peek(size_t first,
                      std::span<WaitingCompletion> completions) const = 0;

  // Asks for one OnCompletion(): for any completion, or only for a solicited or
  // failed one.  It is called at once if the queue holds such a completion, or
  // else when one arrives.
  virtual void RequestNotify(bool solicited_only) = 0;
};

// A ReceiveRequest is a work request that says where a message is to go.
struct ReceiveRequest {
  uint64_t id = 0;
  std::vector<ib_uverbs_sge> sges;
};

// A SendRequest is a work request for a send queue.
struct SendRequest {
  ib_uverbs_send_wr work;
  std::vector<ib_uverbs_sge> sges;
  Buffer inline_data;  // null: the message is in `sges`
  // What the memory of `reader`, a process, has at the addresses of `sges`, if
  // it was read already; or null.  It is what is to be sent if the keys lead to
  // the same addresses of the same process.
  Buffer read_data;
  uint64_t reader = 0;
  Ah* address = nullptr;  // destination of a UD message
};

// An SrqAttributes is the size of a shared receive queue and its limit
// (ib_srq_attr): as asked for, or as it is.
struct SrqAttributes {
  uint32_t max_requests = 0;
  uint32_t max_sges = 0;
  uint32_t limit = 0;  // an event, once, below it; 0: never
};

// An Srq is a shared receive queue.
class Srq {
 public:
  virtual ~Srq() = default;
  virtual SrqAttributes Query() const = 0;
  // Returns how many requests wait for a message.
  virtual size_t posted() const = 0;

  // Errors: InvalidArgument if the number is out of limits.
  virtual absl::Status Resize(uint32_t max_requests) = 0;
  virtual absl::Status SetLimit(uint32_t limit) = 0;

  // Posts requests until one is refused, and adds to `taken` the number of
  // those posted.
  //
  // Errors: ResourceExhausted when the queue is full, InvalidArgument.
  virtual absl::Status PostReceive(std::span<ReceiveRequest> requests,
                                   size_t& taken) = 0;
};

// A QpCapacity is the size of a queue pair (ib_qp_cap): the work requests that
// each queue holds, the SGEs of one, and the bytes of inline data of one.
struct QpCapacity {
  uint32_t send_requests = 0, receive_requests = 0;
  uint32_t send_sges = 0, receive_sges = 0;
  uint32_t inline_bytes = 0;
};

// So many requests a queue pair surely takes: a post of more may be refused.
struct QpPromise {
  size_t sends = 0, receives = 0;
};

// A QpInit is what a queue pair is created with (ib_qp_init_attr).  The objects
// are the same provider's, and must outlive the queue pair.
struct QpInit {
  QpType type = QpType::kRc;
  bool signal_all = false;  // every send request generates a completion
  QpCapacity capacity;
  Pd* pd = nullptr;
  Cq* send_cq = nullptr;
  Cq* receive_cq = nullptr;
  Srq* srq = nullptr;  // instead of a receive queue of its own; or null
};

// A Qp is a queue pair.
class Qp {
 public:
  virtual ~Qp() = default;

  virtual uint32_t number() const = 0;
  virtual QpCapacity capacity() const = 0;
  // Returns what surely can be posted as long as the client itself neither
  // posts nor modifies, whatever becomes of the connection; nothing, if that is
  // never known.
  virtual std::optional<QpPromise> promise() const { return std::nullopt; }
  // Lets so many more requests be posted where others have taken the places of
  // those that promise() gave.  A queue has twice its capacity at most.
  virtual void MakeRoom(size_t /*sends*/, size_t /*receives*/) {}

  // Changes the attributes, and the state if they name it.
  //
  // Errors: InvalidArgument, see CheckTransition(); nothing has changed then.
  virtual absl::Status Modify(const QpAttributes& attributes) = 0;
  // Returns all attributes, whatever qp_attr_mask says.
  virtual QpAttributes Query() const = 0;

  // Post requests in the way of Srq::PostReceive().
  virtual absl::Status PostReceive(std::span<ReceiveRequest> requests,
                                   size_t& taken) = 0;
  virtual absl::Status PostSend(std::span<SendRequest> requests,
                                size_t& taken) = 0;

  // Attaches the queue pair to a multicast group: it receives what is sent to
  // the group until it is detached or destroyed.  A queue pair is attached to a
  // group only once.
  //
  // Errors: InvalidArgument, ResourceExhausted.
  virtual absl::Status AttachMulticast(const GidBytes& gid, uint16_t lid) = 0;
  virtual void DetachMulticast(const GidBytes& gid, uint16_t lid) = 0;
};

// An MrInit is the memory of a region and what its keys allow.  `start` is
// where it lies in the process, `address` how work requests name it.
struct MrInit {
  Pd* pd = nullptr;
  std::shared_ptr<Memory> memory;
  uint64_t start = 0;    // in the process
  uint64_t length = 0;   // not 0, and no address wraps
  uint64_t address = 0;  // of the first byte, in work requests
  uint32_t access = 0;   // bits: access
};

// An AsyncEventListener hears what happens to a device and its ports.
class AsyncEventListener {
 public:
  // Called for each event; `port` is 0 if it is one of the whole device.
  virtual void OnDeviceEvent(AsyncEventType type, int port) = 0;
  // Returns true if a program hears of the event: what the host itself needs to
  // know comes whatever somebody does to programs.
  virtual bool IsOfProgram() const { return false; }
  // Returns who hears of it, see Memory::process(); 0: the host itself.
  virtual uint64_t process() const { return 0; }

 protected:
  ~AsyncEventListener() = default;
};

// A Provider is one adapter as its Linux driver would offer it to the
// InfiniBand core (struct ib_device_ops; "InfiniBand core software", OLS 2005,
// §5).  A back end (fabric/, hca/) implements it.  Everything runs on the loop
// thread.
//
// Errors of Create*(): ResourceExhausted if the device has no more of them,
// InvalidArgument if it can't be as asked for.
class Provider {
 public:
  virtual ~Provider() = default;

  // Returns what the adapter is and can do; vendor_id and vendor_part_id, and a
  // fw_ver of 0, are left to Context.
  virtual DeviceAttributes QueryDevice() const = 0;

  // Returns the attributes of a port.
  //
  // Errors: InvalidArgument, no such port.
  virtual absl::StatusOr<PortAttributes> QueryPort(int port) const = 0;

  // `process` (Memory::process()) owns the protection domain, and so all that
  // is created in it.
  virtual absl::StatusOr<std::unique_ptr<Pd>> CreatePd(uint64_t process) = 0;
  virtual absl::StatusOr<std::unique_ptr<Mr>> CreateMr(const MrInit& init) = 0;
  // Counts a registration of a process that is to come, and returns how long it
  // has to wait for: a delay that somebody asked for, to see what becomes of
  // programs.
  virtual absl::Duration TakeMrDelay(uint64_t /*process*/) {
    return absl::ZeroDuration();
  }
  virtual absl::StatusOr<std::unique_ptr<Ah>> CreateAh(
      Pd& pd, const AddressAttributes& attributes) = 0;
  virtual absl::StatusOr<std::unique_ptr<Cq>> CreateCq(
      uint32_t size, CqListener& listener) = 0;
  virtual absl::StatusOr<std::unique_ptr<Srq>> CreateSrq(
      Pd& pd, const SrqAttributes& attributes, ObjectListener& listener) = 0;
  virtual absl::StatusOr<std::unique_ptr<Qp>> CreateQp(
      const QpInit& init, ObjectListener& listener) = 0;

  virtual void AddListener(AsyncEventListener& listener) = 0;
  virtual void RemoveListener(AsyncEventListener& listener) = 0;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PROVIDER_H_
