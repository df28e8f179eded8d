#include "verbs/parts/memory_region.h"

#include <utility>

#include "base/status_macros.h"

namespace ibemu::verbs {

absl::StatusOr<std::unique_ptr<MemoryRegion>> MemoryRegion::Register(
    KeyTable& table, const verbs::MrInit& init) {
  IBEMU_ASSIGN_OR_RETURN(auto key, table.Allocate());
  return std::make_unique<MemoryRegion>(std::move(key), init);
}

MemoryRegion::MemoryRegion(std::unique_ptr<KeyTable::Key> key,
                           const verbs::MrInit& init)
    : key_(std::move(key)),
      grant_(std::make_shared<Grant>(Grant{.pd = init.pd,
                                           .memory = init.memory,
                                           .address = init.address,
                                           .length = init.length,
                                           .access = init.access,
                                           .start = init.start})) {
  key_->Open(grant_);
}

}  // namespace ibemu::verbs
