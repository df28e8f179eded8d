#include "hca/mlx4/dma_pool.h"

#include <cassert>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace ibemu::hca::mlx4 {
namespace {

// A cache line: two messages never share one.
constexpr size_t kUnit = 64;

constexpr uint64_t UnitsOf(size_t size) { return (size + kUnit - 1) / kUnit; }

}  // namespace

DmaPool::~DmaPool() { assert(in_use_ == 0); }

absl::StatusOr<std::unique_ptr<DmaPool::Buffer>> DmaPool::Take(size_t size) {
  if (size == 0 || size > kArena) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a buffer of %d bytes: it may have 1 to %d", size, kArena));
  }
  const uint64_t units = UnitsOf(size);
  const auto make = [&](Arena& arena, uint64_t first) {
    in_use_ += units * kUnit;
    return std::make_unique<Buffer>(*this, arena, first, size);
  };
  for (const auto& arena : arenas_) {
    if (const auto first = arena->free.Take(units)) return make(*arena, *first);
  }
  if ((arenas_.size() + 1) * kArena > most_) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("all %d bytes for messages are in use", most_));
  }
  auto arena = std::make_unique<Arena>();
  IBEMU_ASSIGN_OR_RETURN(arena->memory, function_.Allocate(kArena));
  arena->free.Add(0, kArena / kUnit);
  arenas_.push_back(std::move(arena));
  const std::optional<uint64_t> first = arenas_.back()->free.Take(units);
  return make(*arenas_.back(), *first);
}

void DmaPool::CallWhenReturned(std::function<void()> again) {
  waiting_.push_back(std::move(again));
}

void DmaPool::Return(Arena& arena, uint64_t first, uint64_t units) {
  arena.free.Return(first, units);
  in_use_ -= units * kUnit;
  if (waiting_.empty() || std::exchange(scheduled_, true)) return;
  timers_.RunSoon([weak = std::weak_ptr(self_)] {
    const auto self = weak.lock();
    if (!self) return;
    (*self)->scheduled_ = false;
    for (const auto& again : std::exchange((*self)->waiting_, {})) again();
  });
}

DmaPool::Buffer::~Buffer() { pool_.Return(arena_, first_, UnitsOf(size_)); }

std::span<std::byte> DmaPool::Buffer::bytes() const {
  return arena_.memory->bytes().subspan(first_ * kUnit, size_);
}

uint64_t DmaPool::Buffer::iova() const {
  return arena_.memory->iova() + first_ * kUnit;
}

}  // namespace ibemu::hca::mlx4
