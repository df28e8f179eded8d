#include "verbs/parts/memory_region.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
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

absl::StatusOr<std::unique_ptr<FastRegion>> FastRegion::Allocate(
    KeyTable& table, const verbs::FmrInit& init) {
  constexpr uint8_t kSmallest = 12, kLargest = 31;
  if (init.page_shift < kSmallest || init.page_shift > kLargest) {
    return absl::InvalidArgumentError(
        absl::StrFormat("pages of 2^%d bytes", init.page_shift));
  }
  IBEMU_ASSIGN_OR_RETURN(auto key, table.Allocate());
  return std::make_unique<FastRegion>(std::move(key), init);
}

FastRegion::FastRegion(std::unique_ptr<KeyTable::Key> key, verbs::FmrInit init)
    : init_(std::move(init)), key_(std::move(key)) {}

absl::Status FastRegion::Map(std::span<const uint64_t> pages,
                             uint64_t address) {
  const uint64_t inside = (uint64_t{1} << init_.page_shift) - 1;
  const bool aligned =
      (address & inside) == 0 &&
      std::all_of(pages.begin(), pages.end(),
                  [inside](uint64_t page) { return (page & inside) == 0; });
  if (pages.empty() || pages.size() > init_.max_pages || !aligned ||
      maps_ == init_.max_maps) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d pages at %#x, mapped %d times: up to %d pages, %d "
        "times, are mapped where a page begins",
        pages.size(), address, maps_, init_.max_pages, init_.max_maps));
  }
  ++maps_;
  key_->Renew();
  grant_ = std::make_shared<Grant>(
      Grant{.pd = init_.pd,
            .memory = init_.memory,
            .address = address,
            .length = uint64_t{pages.size()} << init_.page_shift,
            .access = init_.access,
            .pages = {pages.begin(), pages.end()},
            .page_shift = init_.page_shift});
  key_->Open(grant_);
  return absl::OkStatus();
}

void FastRegion::Unmap() {
  grant_.reset();
  maps_ = 0;
}

absl::StatusOr<std::unique_ptr<MemoryWindow>> MemoryWindow::Allocate(
    KeyTable& table, const verbs::Pd& pd) {
  IBEMU_ASSIGN_OR_RETURN(auto key, table.Allocate());
  return std::make_unique<MemoryWindow>(std::move(key), pd);
}

MemoryWindow::MemoryWindow(std::unique_ptr<KeyTable::Key> key,
                           const verbs::Pd& pd)
    : window_(std::make_shared<Window>(
          Window{.pd = &pd, .key = std::move(key), .grant = nullptr})) {}

PostedBind::PostedBind(const verbs::WindowBind& bind)
    : window_(static_cast<const MemoryWindow&>(*bind.window).window_),
      region_(static_cast<const MemoryRegion&>(*bind.region).grant()),
      address_(bind.address),
      length_(bind.length),
      access_(bind.access) {}

absl::Status PostedBind::Execute(const verbs::Pd* pd) const {
  const auto window = window_.lock();
  if (window == nullptr) return absl::PermissionDeniedError("no such window");
  window->grant.reset();
  window->key->Renew();
  if (length_ == 0) return absl::OkStatus();
  namespace access = verbs::access;
  constexpr uint32_t kWrites = access::kRemoteWrite | access::kRemoteAtomic;
  const auto region = region_.lock();
  if (region == nullptr || region->pd != pd || window->pd != pd) {
    return absl::PermissionDeniedError("no such region, or another domain");
  }
  const bool may_bind = (region->access & access::kBindWindow) != 0;
  const bool may_write = (region->access & access::kLocalWrite) != 0;
  if (!may_bind || ((access_ & kWrites) != 0 && !may_write) ||
      (access_ & ~(kWrites | access::kRemoteRead)) != 0) {
    return absl::PermissionDeniedError("the region does not allow it");
  }
  if (!region->Covers(address_, length_)) {
    return absl::PermissionDeniedError("out of the region's bounds");
  }
  window->grant = std::make_shared<Grant>(
      Grant{.pd = pd,
            .memory = region->memory,
            .address = address_,
            .length = length_,
            .access = access_,
            .region = region_,
            .start = region->start + (address_ - region->address)});
  window->key->Open(window->grant);
  return absl::OkStatus();
}

}  // namespace ibemu::verbs
