#include "verbs/parts/key_table.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace ibemu::verbs {
namespace {

constexpr int kUseBits = 8;
constexpr uint32_t kUses = (uint32_t{1} << kUseBits) - 1;

// "local write, remote read"; reading by the owner needs no right.
std::string AccessText(uint32_t access) {
  constexpr std::pair<uint32_t, const char*> kRights[] = {
      {access::kLocalWrite, "local write"},
      {access::kRemoteWrite, "remote write"},
      {access::kRemoteRead, "remote read"},
      {access::kRemoteAtomic, "remote atomics"}};
  std::string text;
  for (const auto& [right, name] : kRights) {
    if ((access & right) == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", name);
  }
  return text.empty() ? "local read" : text;
}

absl::Status CheckGrant(const Grant& grant, const verbs::Pd* pd,
                        uint64_t address, size_t size, uint32_t access) {
  if (grant.pd != pd) {
    return absl::PermissionDeniedError(
        "the region is of another protection domain");
  }
  if ((access & ~grant.access) != 0) {
    return absl::PermissionDeniedError(
        absl::StrFormat("the region allows %s, this needs %s",
                        AccessText(grant.access), AccessText(access)));
  }
  if (!grant.Covers(address, size)) {
    return absl::PermissionDeniedError(
        absl::StrFormat("%d bytes at %#x are not within the region's %d at %#x",
                        size, address, grant.length, grant.address));
  }
  return absl::OkStatus();
}

}  // namespace

KeyTable::Key::Key(KeyTable& table, uint32_t place)
    : table_(table), place_(place), value_(table.NextValue(place)) {
  table_.places_[place_].key = this;
  ++table_.used_;
}

KeyTable::Key::~Key() {
  table_.places_[place_].key = nullptr;
  table_.free_.push_back(place_);
  --table_.used_;
}

uint32_t KeyTable::NextValue(uint32_t place) {
  return place << kUseBits | (++places_[place].uses & kUses);
}

bool KeyTable::WasGiven(uint32_t key) const {
  const size_t place = key >> kUseBits;
  if (place >= places_.size()) return false;
  const uint32_t use = key & kUses, uses = places_[place].uses;
  return uses > kUses || (use != 0 && use <= uses);
}

absl::StatusOr<std::unique_ptr<KeyTable::Key>> KeyTable::Allocate() {
  if (used_ == most_) {
    return absl::ResourceExhaustedError("the device has no more keys");
  }
  // Spare places make the keys rotate even if only one at a time is in use.
  constexpr size_t kSpare = 16;
  uint32_t place = 0;
  if (free_.size() < kSpare) {
    place = static_cast<uint32_t>(places_.size());
    places_.emplace_back();
  } else {
    place = free_.front();
    free_.pop_front();
  }
  return std::make_unique<Key>(*this, place);
}

absl::StatusOr<std::shared_ptr<const Grant>> KeyTable::GrantOf(
    uint32_t key) const {
  const size_t place = key >> kUseBits;
  const Key* const found =
      place < places_.size() ? places_[place].key : nullptr;
  std::shared_ptr<const Grant> grant;
  if (found != nullptr && found->value() == key) grant = found->grant_.lock();
  if (grant == nullptr) {
    return absl::PermissionDeniedError(
        absl::StrFormat("no region has the key %#x%s", key,
                        WasGiven(key) ? " any more: it was deregistered" : ""));
  }
  return grant;
}

absl::StatusOr<MemoryRanges> KeyTable::Find(uint32_t key, const verbs::Pd* pd,
                                            uint64_t address, size_t size,
                                            uint32_t access) const {
  MemoryRanges ranges;
  if (size == 0) return ranges;
  IBEMU_ASSIGN_OR_RETURN(const auto grant, GrantOf(key));
  IBEMU_RETURN_IF_ERROR(CheckGrant(*grant, pd, address, size, access));
  ranges.push_back(grant->Locate(address, size));
  return ranges;
}

absl::StatusOr<MemoryRanges> KeyTable::FindAll(
    std::span<const ib_uverbs_sge> sges, const verbs::Pd* pd,
    uint32_t access) const {
  MemoryRanges ranges;
  for (const ib_uverbs_sge& sge : sges) {
    if (sge.length == 0) continue;
    IBEMU_ASSIGN_OR_RETURN(const auto grant, GrantOf(sge.lkey));
    IBEMU_RETURN_IF_ERROR(CheckGrant(*grant, pd, sge.addr, sge.length, access));
    ranges.push_back(grant->Locate(sge.addr, sge.length));
  }
  return ranges;
}

}  // namespace ibemu::verbs
