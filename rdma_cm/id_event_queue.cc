#include "rdma_cm/id_event_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rdma_cm/user_id.h"

namespace ibemu::rdma_cm {
namespace {

void CountIn(const QueuedEvent& event) {
  if (const std::shared_ptr<UserId> id = event.id.lock()) ++id->events_queued;
}

void CountOut(const QueuedEvent& event) {
  if (const std::shared_ptr<UserId> id = event.id.lock()) --id->events_queued;
}

}  // namespace

void IdEventQueue::Push(QueuedEvent event) {
  CountIn(event);
  events_.push_back(std::move(event));
}

void IdEventQueue::PutBack(QueuedEvent event) {
  CountIn(event);
  events_.push_front(std::move(event));
}

QueuedEvent IdEventQueue::TakeFirst() {
  QueuedEvent first = std::move(events_.front());
  events_.pop_front();
  CountOut(first);
  return first;
}

std::vector<QueuedEvent> IdEventQueue::TakeAll() {
  std::vector<QueuedEvent> events(std::make_move_iterator(events_.begin()),
                                  std::make_move_iterator(events_.end()));
  events_.clear();
  std::ranges::for_each(events, CountOut);
  return events;
}

std::vector<QueuedEvent> IdEventQueue::RemoveOf(const UserId& id) {
  if (id.events_queued == 0) return {};
  const auto removed = std::stable_partition(
      events_.begin(), events_.end(),
      [&id](const QueuedEvent& event) { return event.id.lock().get() != &id; });
  std::vector<QueuedEvent> events(std::make_move_iterator(removed),
                                  std::make_move_iterator(events_.end()));
  events_.erase(removed, events_.end());
  std::ranges::for_each(events, CountOut);
  return events;
}

void IdEventQueue::RemoveOf(const UserJoin& join) {
  std::erase_if(events_, [&join](const QueuedEvent& event) {
    if (event.join.lock().get() != &join) return false;
    CountOut(event);
    return true;
  });
}

}  // namespace ibemu::rdma_cm
