// MemoryRegion: registered memory.
#ifndef IBEMU_VERBS_PARTS_MEMORY_REGION_H_
#define IBEMU_VERBS_PARTS_MEMORY_REGION_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "verbs/parts/key_table.h"
#include "verbs/provider.h"

namespace ibemu::verbs {

// A MemoryRegion is a memory region whose keys are entries of a KeyTable.
class MemoryRegion : public verbs::Mr {
 public:
  // Registers memory.
  //
  // Errors: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<MemoryRegion>> Register(
      KeyTable& table, const verbs::MrInit& init);

  MemoryRegion(std::unique_ptr<KeyTable::Key> key, const verbs::MrInit& init);

  uint32_t lkey() const override { return key_->value(); }
  uint32_t rkey() const override { return key_->value(); }

 private:
  std::unique_ptr<KeyTable::Key> key_;
  std::shared_ptr<const Grant> grant_;  // ends with the region
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PARTS_MEMORY_REGION_H_
