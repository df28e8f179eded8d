#include "rdma_cm/id_table.h"

#include "rdma_cm/connection_watcher.h"

namespace ibemu::rdma_cm {

IdTable::Entry::Entry(IdTable& table, const Id& id) : table_(table), id_(id) {
  table_.ids_.insert(&id_);
}

IdTable::Entry::~Entry() { table_.ids_.erase(&id_); }

ConnectionWatcher* IdTable::watcher() const {
  return watcher_ != nullptr && watcher_->Wants() ? watcher_ : nullptr;
}

}  // namespace ibemu::rdma_cm
