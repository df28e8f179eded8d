// IdTable: the ids of one adapter that listen or are connected, and who watches
// them.
#ifndef IBEMU_RDMA_CM_HOST_ID_TABLE_H_
#define IBEMU_RDMA_CM_HOST_ID_TABLE_H_

#include <vector>

#include "absl/container/flat_hash_set.h"

namespace ibemu::rdma_cm {

class ConnectionWatcher;
class Id;

// An IdTable has the ids of all views of the adapter: what `rdma resource show
// cm_id` prints of a device.
class IdTable {
 public:
  // An Entry is one id, as long as it exists.
  class Entry {
   public:
    // Both must outlive this.
    Entry(IdTable& table, const Id& id);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    IdTable& table_;
    const Id& id_;
  };

  // Returns the ids, in no order.
  std::vector<const Id*> ids() const { return {ids_.begin(), ids_.end()}; }

  // Sets the only watcher, who must outlive this.
  void SetWatcher(ConnectionWatcher& watcher) { watcher_ = &watcher; }
  // Null if there is none.
  ConnectionWatcher* watcher() const { return watcher_; }

 private:
  absl::flat_hash_set<const Id*> ids_;
  ConnectionWatcher* watcher_ = nullptr;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_HOST_ID_TABLE_H_
