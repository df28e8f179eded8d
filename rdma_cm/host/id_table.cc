#include "rdma_cm/host/id_table.h"

namespace ibemu::rdma_cm {

IdTable::Entry::Entry(IdTable& table, const Id& id) : table_(table), id_(id) {
  table_.ids_.insert(&id_);
}

IdTable::Entry::~Entry() { table_.ids_.erase(&id_); }

}  // namespace ibemu::rdma_cm
