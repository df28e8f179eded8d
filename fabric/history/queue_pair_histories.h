// QueuePairHistories: the histories of a subnet's queue pairs.
#ifndef IBEMU_FABRIC_HISTORY_QUEUE_PAIR_HISTORIES_H_
#define IBEMU_FABRIC_HISTORY_QUEUE_PAIR_HISTORIES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "base/timers.h"
#include "fabric/history/queue_pair_history.h"
#include "topology/topology.h"

namespace ibemu::fabric {

// A QueuePairHistories keeps a history as long as its queue pair exists, and of
// those that have ended the last kMaxEnded; as many more in which a work
// request failed.
class QueuePairHistories {
 public:
  static constexpr size_t kMaxEnded = 256;

  // Called with what QueuePairHistory::OnIncident is called with, before the
  // program hears of it.  It must not change the fabric.
  using IncidentListener = std::function<void(
      topology::NodeId node, uint32_t qpn, const QueuePairHistory& history,
      const Incident& incident)>;

  // `timers` must outlive this, and this all queue pairs.
  explicit QueuePairHistories(Timers& timers) : timers_(timers) {}
  QueuePairHistories(const QueuePairHistories&) = delete;
  QueuePairHistories& operator=(const QueuePairHistories&) = delete;

  // There is at most one; null: none.
  void SetIncidentListener(IncidentListener listener) {
    incident_listener_ = std::move(listener);
  }

  // A queue pair of `process` begins, or one ends.  A queue pair of an adapter
  // that was pulled out may end after another one of its number has begun.
  std::shared_ptr<QueuePairHistory> Begin(topology::NodeId node, uint32_t qpn,
                                          uint64_t process = 0);
  void End(topology::NodeId node, uint32_t qpn,
           const std::shared_ptr<QueuePairHistory>& history);

  // Returns that of the queue pair which exists, else that of the last one of
  // this number; null if nothing is known of it.
  const QueuePairHistory* Find(topology::NodeId node, uint32_t qpn) const;
  QueuePairHistory* Find(topology::NodeId node, uint32_t qpn);
  bool Exists(topology::NodeId node, uint32_t qpn) const {
    return present_.contains({node, qpn});
  }

  using Look = absl::FunctionRef<void(topology::NodeId node, uint32_t qpn,
                                      bool exists, const QueuePairHistory&)>;
  // Call `look` for each history of the node, or of the queue pairs of a
  // process: those of queue pairs that exist, by node and number, then the
  // others, the latest first.
  void ForEach(topology::NodeId node, Look look) const;
  void ForEachOf(uint64_t process, Look look) const;

 private:
  using Key = std::pair<topology::NodeId, uint32_t>;
  using Ended = std::deque<std::pair<Key, std::shared_ptr<QueuePairHistory>>>;

  using Present = std::map<Key, std::shared_ptr<QueuePairHistory>>;

  // Calls `look` for those that ended and are `wanted`.
  template <class Wanted>
  void ForEachEnded(Wanted wanted, Look look) const;

  Timers& timers_;
  IncidentListener incident_listener_;  // null: none
  Present present_;
  Ended ended_well_, ended_badly_;  // the latest last
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_HISTORY_QUEUE_PAIR_HISTORIES_H_
