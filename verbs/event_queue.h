// Events on their way to a client: what read() of a completion channel, or of a
// context's asynchronous descriptor, gives.
#ifndef IBEMU_VERBS_EVENT_QUEUE_H_
#define IBEMU_VERBS_EVENT_QUEUE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>

namespace ibemu::verbs {

// Events in the order of their coming.  One that comes from an object (a CQ,
// QP or SRQ) counts as delivered when it is read: DESTROY_* tells the client
// how many those are, and it waits until so many are acknowledged
// (ib_uverbs_event_read() in drivers/infiniband/core/uverbs_main.c).
class EventQueue {
 public:
  // struct ib_uverbs_async_event_desc is the longest.
  static constexpr size_t kMaxEvent = 16;

  // `size`: of every event, in bytes.
  explicit EventQueue(size_t size) : size_(size) {}

  size_t event_size() const { return size_; }
  bool empty() const { return events_.empty(); }

  // Nobody will read any more: what comes is dropped.
  void Close();
  bool closed() const { return closed_; }

  // Requires an event of event_size() bytes.  `delivered` is counted up when it
  // is read; null for an event of no object.  Not owned: see Forget().
  void Push(std::span<const std::byte> event, uint32_t* delivered);

  // The oldest event; requires that there is one.
  std::array<std::byte, kMaxEvent> Take();

  // The object that counts in `delivered` ends, and what it has here with it.
  void Forget(const uint32_t* delivered);

  // Called when an event has come.  At most one.
  void SetListener(std::function<void()> listener) {
    listener_ = std::move(listener);
  }

 private:
  struct Event {
    std::array<std::byte, kMaxEvent> bytes;
    uint32_t* delivered;
  };

  const size_t size_;
  bool closed_ = false;
  std::deque<Event> events_;
  std::function<void()> listener_;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_EVENT_QUEUE_H_
