#include "hca/model/mlx4/core/icm.h"

#include <algorithm>

#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::model::mlx4 {

namespace {

// The size of firmware's own tables about ICM: one page for each 16 MiB, plus a
// minimum.
constexpr uint64_t kAuxiliaryMinimum = 64;
constexpr int kAuxiliaryShift = 24;

}  // namespace

uint64_t Icm::SetSize(uint64_t bytes) {
  size_ = bytes;
  auxiliary_pages_ = kAuxiliaryMinimum + (bytes >> kAuxiliaryShift);
  return auxiliary_pages_;
}

prm::CommandStatus Icm::Map(const prm::VirtualPhysicalMapping& chunk) {
  using Status = prm::CommandStatus;
  constexpr int kMaxLog = 52 - prm::kIcmPageShift;
  if (chunk.log2size > kMaxLog) return Status::kBadParam;
  const uint64_t pages = uint64_t{1} << chunk.log2size;
  if ((chunk.physical_page & (pages - 1)) != 0) return Status::kBadParam;
  const uint64_t first = chunk.virtual_page;
  // Only the beginning is checked against the size.  Where Linux planned for
  // fewer than 1,024 EQs it still maps that many contexts, as the last table,
  // and so beyond the end; real firmware allows it.  With Linux's profile with
  // few queues of each kind (that of a crash dump kernel), the place of that
  // chunk is not a multiple of its size, either.
  if (first >= (size_ + prm::kIcmPageBytes - 1) >> prm::kIcmPageShift) {
    return Status::kIcmError;
  }
  const auto after = chunks_.lower_bound(first);
  if (after != chunks_.end() && after->first < first + pages) {
    return Status::kIcmError;
  }
  if (after != chunks_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second.pages > first) return Status::kIcmError;
  }
  chunks_.emplace_hint(after, first, Chunk{chunk.physical_page, pages});
  return Status::kOk;
}

void Icm::Unmap(uint64_t address, uint64_t pages) {
  const uint64_t first = address >> prm::kIcmPageShift;
  const uint64_t end = first + pages;
  auto chunk = chunks_.upper_bound(first);
  if (chunk != chunks_.begin()) --chunk;
  while (chunk != chunks_.end() && chunk->first < end) {
    const uint64_t chunk_first = chunk->first;
    const Chunk old = chunk->second;
    const uint64_t chunk_end = chunk_first + old.pages;
    if (chunk_end <= first) {
      ++chunk;
      continue;
    }
    chunk = chunks_.erase(chunk);
    if (chunk_first < first) {
      chunks_[chunk_first] = {old.physical_page, first - chunk_first};
    }
    if (chunk_end > end) {
      chunks_[end] = {old.physical_page + (end - chunk_first), chunk_end - end};
      break;
    }
  }
}

std::optional<Icm::Sge> Icm::Find(uint64_t address) const {
  const uint64_t page = address >> prm::kIcmPageShift;
  auto chunk = chunks_.upper_bound(page);
  if (chunk == chunks_.begin()) return std::nullopt;
  --chunk;
  if (page >= chunk->first + chunk->second.pages) return std::nullopt;
  const uint64_t skip = address - (chunk->first << prm::kIcmPageShift);
  return Sge{
      .address = (chunk->second.physical_page << prm::kIcmPageShift) + skip,
      .bytes = (chunk->second.pages << prm::kIcmPageShift) - skip};
}

bool Icm::Contains(uint64_t address, uint64_t bytes) const {
  while (bytes > 0) {
    const std::optional<Sge> piece = Find(address);
    if (!piece) return false;
    const uint64_t step = std::min(bytes, piece->bytes);
    address += step;
    bytes -= step;
  }
  return true;
}

uint64_t Icm::mapped_pages() const {
  uint64_t pages = 0;
  for (const auto& [first, chunk] : chunks_) pages += chunk.pages;
  return pages;
}

template <class Span, class Copy>
bool Icm::ForEachPiece(uint64_t address, Span bytes, Copy copy) const {
  if (!Contains(address, bytes.size())) return false;
  while (!bytes.empty()) {
    const Sge piece = *Find(address);
    const size_t step = std::min<uint64_t>(bytes.size(), piece.bytes);
    if (!copy(piece.address, bytes.first(step))) return false;
    bytes = bytes.subspan(step);
    address += step;
  }
  return true;
}

bool Icm::Read(uint64_t address, std::span<std::byte> into) {
  return ForEachPiece(address, into,
                      [this](uint64_t bus, std::span<std::byte> part) {
                        return host_.Read(bus, part);
                      });
}

bool Icm::Write(uint64_t address, std::span<const std::byte> from) {
  return ForEachPiece(address, from,
                      [this](uint64_t bus, std::span<const std::byte> part) {
                        return host_.Write(bus, part);
                      });
}

void Icm::Reset() {
  chunks_.clear();
  size_ = 0;
  auxiliary_pages_ = 0;
}

}  // namespace ibemu::hca::model::mlx4
