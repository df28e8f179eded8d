#include "verbs/uverbs/event_queue.h"

#include <algorithm>

namespace ibemu::verbs {

void EventQueue::Close() {
  closed_ = true;
  events_.clear();
  listener_ = nullptr;
}

void EventQueue::Push(std::span<const std::byte> event, uint32_t* delivered) {
  if (closed_) return;
  Event& last = events_.emplace_back(Event{{}, delivered});
  std::copy(event.begin(), event.end(), last.bytes.begin());
  if (listener_) listener_();
}

std::array<std::byte, EventQueue::kMaxEvent> EventQueue::Take() {
  const Event event = events_.front();
  events_.pop_front();
  if (event.delivered != nullptr) ++*event.delivered;
  return event.bytes;
}

void EventQueue::Forget(const uint32_t* delivered) {
  std::erase_if(events_, [delivered](const Event& event) {
    return event.delivered == delivered;
  });
}

}  // namespace ibemu::verbs
