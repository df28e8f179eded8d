// The objects of a context as its client knows them: each object of the
// provider, with a count of those who use it and the client's name for it in
// events.
#ifndef IBEMU_VERBS_UVERBS_OBJECTS_H_
#define IBEMU_VERBS_UVERBS_OBJECTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "verbs/provider.h"
#include "verbs/uverbs/context_client.h"
#include "verbs/uverbs/event_queue.h"

namespace ibemu::verbs {

// The number of completion vectors that GET_CONTEXT reports.
inline constexpr uint32_t kCompletionVectors = 1;

// A Use counts as one user of an object, which can't be destroyed as long as it
// has users.
class Use {
 public:
  Use() = default;
  explicit Use(int& users) : users_(&users) { ++users; }
  Use(Use&& other) noexcept : users_(std::exchange(other.users_, nullptr)) {}
  Use& operator=(Use&& other) noexcept {
    std::swap(users_, other.users_);
    return *this;
  }
  ~Use() {
    if (users_ != nullptr) --*users_;
  }

 private:
  int* users_ = nullptr;
};

// A PdObject is a protection domain; its users are the objects created in it.
struct PdObject {
  std::unique_ptr<Pd> pd;
  int users = 0;
};

// An MrObject is a memory region.  Its pages stay pinned, and so counted for
// RLIMIT_MEMLOCK, as long as it exists.
struct MrObject {
  Use pd;
  MrInit init;
  std::unique_ptr<Memory::Pin> pin;
  std::unique_ptr<Mr> mr;
};

// An AhObject is an address handle, with the attributes that it was created
// with.
struct AhObject {
  Use pd;
  AddressAttributes attributes{};
  std::unique_ptr<Ah> ah;
};

// An EventSource queues the asynchronous events of one object.  `user_handle`
// is the client's name for the object, ib_uverbs_async_event_desc.element.
class EventSource {
 public:
  EventSource(std::shared_ptr<EventQueue> queue, uint64_t user_handle)
      : queue_(std::move(queue)), user_handle_(user_handle) {}
  ~EventSource() { queue_->Forget(&delivered_); }
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  void Push(AsyncEventType type) {
    const ib_uverbs_async_event_desc event = {
        .element = user_handle_,
        .event_type = static_cast<uint32_t>(type),
        .reserved = 0};
    queue_->Push(std::as_bytes(std::span(&event, 1)), &delivered_);
  }

  uint64_t user_handle() const { return user_handle_; }
  // Returns how many events the client has read.
  uint32_t delivered() const { return delivered_; }

 private:
  std::shared_ptr<EventQueue> queue_;
  uint64_t user_handle_;
  uint32_t delivered_ = 0;
};

// A CqObject is a completion queue.  It tells its client of completions by its
// completion channel, if it has one.
struct CqObject final : CqListener {
  // A Keeper hears of a queue, and knows what the client has taken there: see
  // CqListener.
  class Keeper {
   public:
    virtual void OnArrival(CqObject& cq) = 0;
    virtual size_t TakenOf(const CqObject& cq) = 0;
    virtual void OnDrop(CqObject& cq) = 0;

   protected:
    ~Keeper() = default;
  };
  // `its_keeper` points to null once that has ended.  `process`: whose it is,
  // see Memory::process().
  CqObject(std::shared_ptr<Keeper*> its_keeper,
           std::shared_ptr<EventQueue> async, uint64_t user_handle,
           uint64_t process, std::shared_ptr<EventQueue> own_channel)
      : keeper(std::move(its_keeper)),
        events(std::move(async), user_handle),
        owner(process),
        channel(std::move(own_channel)) {}
  ~CqObject() {
    cq.reset();
    if (channel != nullptr) channel->Forget(&completions_delivered);
  }

  void OnEvent(AsyncEventType type) override { events.Push(type); }
  void OnArrival() override {
    tells_of_old = false;
    if (*keeper != nullptr) (*keeper)->OnArrival(*this);
  }
  size_t taken() const override {
    return *keeper == nullptr ? 0 : (*keeper)->TakenOf(*this);
  }
  void OnDrop() override {
    if (*keeper != nullptr) (*keeper)->OnDrop(*this);
  }
  uint64_t process() const override { return owner; }
  // An event that the client has not read yet tells of later completions, too.
  // A client that asks again before it has read the event adds nothing to the
  // channel, as with the doorbells of mlx4 and mlx5.
  void OnCompletion() override {
    if (channel == nullptr || completions_told != completions_delivered) return;
    ++completions_told;
    const ib_uverbs_comp_event_desc event = {.cq_handle = events.user_handle()};
    channel->Push(std::as_bytes(std::span(&event, 1)), &completions_delivered);
  }

  std::shared_ptr<Keeper*> keeper;
  EventSource events;
  const uint64_t owner;                 // the process
  std::shared_ptr<EventQueue> channel;  // or null
  uint32_t handle = 0;                  // of this object
  // The events in the channel so far, and those of them that were read.
  uint32_t completions_told = 0, completions_delivered = 0;
  // The last event tells of completions that were there when it was asked for,
  // of which some still are, and none has come since.
  bool tells_of_old = false;
  int users = 0;
  std::unique_ptr<Cq> cq;
};

// An SrqObject is a shared receive queue; its users are the queue pairs that
// receive from it.
struct SrqObject final : ObjectListener {
  SrqObject(std::shared_ptr<EventQueue> async, uint64_t user_handle)
      : events(std::move(async), user_handle) {}

  void OnEvent(AsyncEventType type) override { events.Push(type); }

  Use pd;
  EventSource events;
  int users = 0;
  std::unique_ptr<Srq> srq;
};

// A QpObject is a queue pair, which uses its domain, its completion queues and
// its SRQ.  `qp` comes last, so it ends before they lose a user.
struct QpObject final : ObjectListener {
  QpObject(ContextClient& own_client, std::shared_ptr<EventQueue> async,
           uint64_t user_handle)
      : client(own_client), events(std::move(async), user_handle) {}

  void OnEvent(AsyncEventType type) override { events.Push(type); }
  void OnNoReceive() override { client.OnNoReceive(); }

  ContextClient& client;
  Use pd, send_cq, receive_cq, srq;
  // The handles of what it uses; no value: it has a receive queue of its own.
  uint32_t send_cq_handle = 0, receive_cq_handle = 0;
  std::optional<uint32_t> srq_handle;
  EventSource events;
  QpType type = QpType::kRc;
  bool signal_all = false;
  std::set<std::pair<GidBytes, uint16_t>> groups;  // attached to
  std::unique_ptr<Qp> qp;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_OBJECTS_H_
