// Registered memory: regions, those of the fast kind, and windows on them.
#ifndef IBEMU_VERBS_MEMORY_REGION_H_
#define IBEMU_VERBS_MEMORY_REGION_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "verbs/key_table.h"
#include "verbs/provider.h"

namespace ibemu::verbs {

class MemoryRegion : public verbs::Mr {
 public:
  // Errors: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<MemoryRegion>> Register(
      KeyTable& table, const verbs::MrInit& init);

  MemoryRegion(std::unique_ptr<KeyTable::Key> key, const verbs::MrInit& init);

  uint32_t lkey() const override { return key_->value(); }
  uint32_t rkey() const override { return key_->value(); }

  // Ends with the region.
  const std::shared_ptr<const Grant>& grant() const { return grant_; }

 private:
  std::unique_ptr<KeyTable::Key> key_;
  std::shared_ptr<const Grant> grant_;
};

class FastRegion final : public verbs::Fmr {
 public:
  // Errors: ResourceExhausted, InvalidArgument.
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
  uint32_t maps_ = 0;  // since it was unmapped
  std::shared_ptr<const Grant> grant_;
};

// A bind that was posted, with what it names as that was then: neither region
// nor window need be there when its turn comes.
class PostedBind;

class MemoryWindow final : public verbs::Mw {
 public:
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

  // For a queue pair of domain `pd`.  The key that opened the window before
  // opens nothing from now on, even if nothing is bound instead.
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

#endif  // IBEMU_VERBS_MEMORY_REGION_H_
