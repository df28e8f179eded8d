// Registered memory: memory regions, fast memory regions and memory windows.
#ifndef IBEMU_VERBS_PARTS_MEMORY_REGION_H_
#define IBEMU_VERBS_PARTS_MEMORY_REGION_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
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

  // The access that the region's keys give.  It ends with the region.
  const std::shared_ptr<const Grant>& grant() const { return grant_; }

 private:
  std::unique_ptr<KeyTable::Key> key_;
  std::shared_ptr<const Grant> grant_;
};

// A FastRegion is a region for fast registration (see Fmr) whose keys are
// entries of a KeyTable.
class FastRegion final : public verbs::Fmr {
 public:
  // Creates a region, not mapped yet.
  //
  // Errors: ResourceExhausted; InvalidArgument, a page size that is not
  // possible.
  static absl::StatusOr<std::unique_ptr<FastRegion>> Allocate(
      KeyTable& table, const verbs::FmrInit& init);

  FastRegion(std::unique_ptr<KeyTable::Key> key, verbs::FmrInit init);

  uint32_t lkey() const override { return key_->value(); }
  uint32_t rkey() const override { return key_->value(); }
  absl::Status Map(std::span<const uint64_t> pages, uint64_t address) override;
  void Unmap() override;

 private:
  const verbs::FmrInit init_;
  std::unique_ptr<KeyTable::Key> key_;
  uint32_t maps_ = 0;  // since the last Unmap()
  std::shared_ptr<const Grant> grant_;
};

// A PostedBind is a bind that was posted, with the window and the region's
// access as they were then.  Either may have ended by the time the bind is
// carried out.
class PostedBind;

// A MemoryWindow is a memory window whose key is an entry of a KeyTable.
class MemoryWindow final : public verbs::Mw {
 public:
  // Creates a window that is not bound.
  //
  // Errors: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<MemoryWindow>> Allocate(
      KeyTable& table, const verbs::Pd& pd);

  MemoryWindow(std::unique_ptr<KeyTable::Key> key, const verbs::Pd& pd);

  uint32_t rkey() const override { return window_->key->value(); }

 private:
  friend class PostedBind;

  struct Window {
    const verbs::Pd* pd;
    std::unique_ptr<KeyTable::Key> key;
    std::shared_ptr<const Grant> grant;
  };
  std::shared_ptr<Window> window_;
};

class PostedBind {
 public:
  explicit PostedBind(const verbs::WindowBind& bind);

  // Carries out the bind for a queue pair of protection domain `pd`.  The key
  // that the window had before gives no access from now on, even if nothing is
  // bound instead.
  //
  // Errors: PermissionDenied, as IBA vol 1 §10.6.7.2 demands.
  absl::Status Execute(const verbs::Pd* pd) const;

 private:
  std::weak_ptr<MemoryWindow::Window> window_;
  std::weak_ptr<const Grant> region_;
  uint64_t address_, length_;
  uint32_t access_;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PARTS_MEMORY_REGION_H_
