#include "rdma_cm/event_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ibemu::rdma_cm {

QueuedEvent EventQueue::TakeFirst() {
  QueuedEvent first = std::move(events_.front());
  events_.pop_front();
  return first;
}

std::vector<QueuedEvent> EventQueue::RemoveOf(const UserId& id) {
  const auto removed = std::stable_partition(
      events_.begin(), events_.end(),
      [&id](const QueuedEvent& event) { return event.id.lock().get() != &id; });
  std::vector<QueuedEvent> events(std::make_move_iterator(removed),
                                  std::make_move_iterator(events_.end()));
  events_.erase(removed, events_.end());
  return events;
}

void EventQueue::RemoveOf(const UserJoin& join) {
  std::erase_if(events_, [&join](const QueuedEvent& event) {
    return event.join.lock().get() == &join;
  });
}

}  // namespace ibemu::rdma_cm
