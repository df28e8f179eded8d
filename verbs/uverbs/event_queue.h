// Events on their way to a client.
#ifndef IBEMU_VERBS_UVERBS_EVENT_QUEUE_H_
#define IBEMU_VERBS_UVERBS_EVENT_QUEUE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>

namespace ibemu::verbs {

// An EventQueue holds, in the order of arrival, the events that read() of a
// completion channel, or of a context's asynchronous descriptor, returns.
//
// An event of an object (a CQ, QP or SRQ) counts as delivered when it is read:
// DESTROY_* tells the client how many were delivered, and the client waits
// until it has acknowledged that many (ib_uverbs_event_read() in
// drivers/infiniband/core/uverbs_main.c).
class EventQueue {
 public:
  // In bytes; struct ib_uverbs_async_event_desc is the longest event.
  static constexpr size_t kMaxEvent = 16;

  // `size` is the length of every event, in bytes.
  explicit EventQueue(size_t size) : size_(size) {}

  size_t event_size() const { return size_; }
  bool empty() const { return events_.empty(); }

  // Drops all events, those to come as well: nobody will read any more.
  void Close();
  bool closed() const { return closed_; }

  // Adds an event, which must have event_size() bytes.  `*delivered` is
  // incremented when the event is read; it is not owned (see Forget()), and
  // null if the event belongs to no object.
  void Push(std::span<const std::byte> event, uint32_t* delivered);

  // Removes and returns the oldest event.  Requires that there is one.
  std::array<std::byte, kMaxEvent> Take();

  // Drops the events that count in `delivered`, because their object ends.
  void Forget(const uint32_t* delivered);

  // Sets the function that is called whenever an event arrives.  There is at
  // most one.
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

#endif  // IBEMU_VERBS_UVERBS_EVENT_QUEUE_H_
