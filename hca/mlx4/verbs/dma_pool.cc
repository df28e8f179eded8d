#include "hca/mlx4/verbs/dma_pool.h"

#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace ibemu::hca::mlx4 {
namespace {

// The unit of allocation, a cache line, so that two messages never share one.
constexpr size_t kUnit = 64;

constexpr uint64_t UnitsOf(size_t size) { return (size + kUnit - 1) / kUnit; }
constexpr size_t RoundUp(size_t size) { return UnitsOf(size) * kUnit; }

}  // namespace

// Frees all pieces, even if a share or buffer still exists.
DmaPool::~DmaPool() {
  for (const auto& [process, weak] : shares_) {
    if (const auto share = weak.lock()) share->own_.reset();
  }
}

absl::StatusOr<std::shared_ptr<DmaPool::Share>> DmaPool::ShareOf(
    uint64_t process) {
  absl::erase_if(shares_,
                 [](const auto& entry) { return entry.second.expired(); });
  if (const auto found = shares_.find(process); found != shares_.end()) {
    return found->second.lock();
  }
  if (shares_.size() >= kMaxShares) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%d processes use the adapter already", kMaxShares));
  }
  auto share = std::make_shared<Share>();
  shares_[process] = share;
  return share;
}

absl::StatusOr<std::unique_ptr<DmaPool::Buffer>> DmaPool::Take(
    const std::shared_ptr<Share>& share, size_t size) {
  if (size == 0 || size > kArena) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a buffer of %d bytes: it may have 1 to %d", size, kArena));
  }
  // The process's own piece comes last, so that it is whole when it is needed.
  if (common_.Take(share->common_, RoundUp(size))) {
    if (auto buffer = TakeCommon(share, size)) return buffer;
    common_.Return(share->common_, RoundUp(size));
  }
  if (!share->own_) {
    IBEMU_ASSIGN_OR_RETURN(share->own_, MakeArena());
  }
  if (auto buffer = TakeFrom(*share->own_, share, size)) return buffer;
  return absl::ResourceExhaustedError(
      "all memory that the process may have for messages is in use");
}

// Returns null if there is no room.
std::unique_ptr<DmaPool::Buffer> DmaPool::TakeCommon(
    const std::shared_ptr<Share>& share, size_t size) {
  for (const auto& arena : arenas_) {
    if (auto buffer = TakeFrom(*arena, share, size)) return buffer;
  }
  if ((arenas_.size() + 1) * kArena > common_size_) return nullptr;
  auto arena = MakeArena();
  if (!arena.ok()) return nullptr;
  arenas_.push_back(*std::move(arena));
  return TakeFrom(*arenas_.back(), share, size);
}

std::unique_ptr<DmaPool::Buffer> DmaPool::TakeFrom(
    Arena& arena, const std::shared_ptr<Share>& share, size_t size) {
  const std::optional<uint64_t> first = arena.free.Take(UnitsOf(size));
  if (!first) return nullptr;
  in_use_ += RoundUp(size);
  return std::make_unique<Buffer>(*this, share, arena, *first, size);
}

absl::StatusOr<std::unique_ptr<DmaPool::Arena>> DmaPool::MakeArena() {
  auto arena = std::make_unique<Arena>();
  IBEMU_ASSIGN_OR_RETURN(arena->memory, function_.Allocate(kArena));
  arena->free.Add(0, kArena / kUnit);
  return arena;
}

void DmaPool::CallWhenReturned(const void* who, std::function<void()> again) {
  StopWaiting(who);
  waiting_.emplace_back(who, std::move(again));
}

void DmaPool::StopWaiting(const void* who) {
  std::erase_if(waiting_,
                [who](const auto& entry) { return entry.first == who; });
}

void DmaPool::Return(const Buffer& buffer) {
  buffer.arena_.free.Add(buffer.first_, UnitsOf(buffer.size_));
  in_use_ -= RoundUp(buffer.size_);
  if (&buffer.arena_ != buffer.share_->own_.get()) {
    common_.Return(buffer.share_->common_, RoundUp(buffer.size_));
  }
  if (!waiting_.empty()) call_waiting_.Request();
}

void DmaPool::CallWaiting() {
  const auto waiting = std::exchange(waiting_, {});
  for (const auto& [who, again] : waiting) again();
}

DmaPool::Buffer::~Buffer() {
  if (const auto pool = pool_.lock()) (*pool)->Return(*this);
}

std::span<std::byte> DmaPool::Buffer::bytes() const {
  return arena_.memory->bytes().subspan(first_ * kUnit, size_);
}

uint64_t DmaPool::Buffer::iova() const {
  return arena_.memory->iova() + first_ * kUnit;
}

}  // namespace ibemu::hca::mlx4
