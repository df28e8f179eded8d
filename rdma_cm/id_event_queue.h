// IdEventQueue: the events of one open that nobody has fetched yet.
#ifndef IBEMU_RDMA_CM_ID_EVENT_QUEUE_H_
#define IBEMU_RDMA_CM_ID_EVENT_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "rdma_cm/values/event.h"

namespace ibemu::rdma_cm {

class UserId;
struct UserJoin;

// An event that waits, and the ids and the join that it is about, as the
// program knows them.
struct QueuedEvent {
  std::weak_ptr<UserId> id{};      // whose it is: of a request, the listener
  std::weak_ptr<UserJoin> join{};  // if it is about one
  std::weak_ptr<UserId> made{};    // by a request
  uint64_t told_uid = 0;
  uint32_t told_id = 0;
  Event event{};
};

// An IdEventQueue gives its events first in, first out.  It counts them in the
// UserId::events_queued of the ids that they belong to.
class IdEventQueue {
 public:
  bool empty() const { return events_.empty(); }
  size_t size() const { return events_.size(); }

  void Push(QueuedEvent event);
  // Puts back what was taken last.
  void PutBack(QueuedEvent event);
  // REQUIRES: !empty().
  QueuedEvent TakeFirst();
  // Takes all events, in their order.
  std::vector<QueuedEvent> TakeAll();

  // Removes the events of an id, or of a join, in their order.  Costs nothing
  // if the id has none.
  std::vector<QueuedEvent> RemoveOf(const UserId& id);
  void RemoveOf(const UserJoin& join);

 private:
  std::deque<QueuedEvent> events_;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_ID_EVENT_QUEUE_H_
