#include "hca/model/mlx4/queues/scatter_gather.h"

#include <algorithm>
#include <optional>

namespace ibemu::hca::model::mlx4 {

uint64_t BytesOf(std::span<const Sge> sges) {
  uint64_t bytes = 0;
  for (const Sge& piece : sges) bytes += piece.bytes;
  return bytes;
}

namespace {

// Calls visit(piece, offset in piece, part of `bytes`) for all of `bytes`.
// Returns false if `visit` does, or if the SGE list ends before `bytes` do.
template <class Span, class Visit>
bool ForEachPart(std::span<const Sge> sges, uint64_t offset, Span bytes,
                 Visit visit) {
  for (const Sge& piece : sges) {
    if (bytes.empty()) return true;
    if (offset >= piece.bytes) {
      offset -= piece.bytes;
      continue;
    }
    const size_t step = std::min<uint64_t>(bytes.size(), piece.bytes - offset);
    if (!visit(piece, offset, bytes.first(step))) return false;
    bytes = bytes.subspan(step);
    offset = 0;
  }
  return bytes.empty();
}

}  // namespace

bool Gather(MemoryTable& memory, uint32_t pd, std::span<const Sge> sges,
            uint64_t offset, std::span<std::byte> into) {
  return ForEachPart(
      sges, offset, into,
      [&](const Sge& piece, uint64_t skip, std::span<std::byte> part) {
        if (!piece.inlined.empty()) {
          std::copy_n(piece.inlined.begin() + static_cast<ptrdiff_t>(skip),
                      part.size(), part.begin());
          return true;
        }
        const auto entry = memory.Check(piece.lkey, pd, piece.address + skip,
                                        part.size(), Right::kLocalRead);
        return entry && memory.Read(*entry, piece.address + skip, part);
      });
}

Scattered Scatter(MemoryTable& memory, uint32_t pd, std::span<const Sge> sges,
                  uint64_t offset, std::span<const std::byte> from) {
  if (offset + from.size() > BytesOf(sges)) return Scattered::kTooLong;
  const bool done = ForEachPart(
      sges, offset, from,
      [&](const Sge& piece, uint64_t skip, std::span<const std::byte> part) {
        const auto entry = memory.Check(piece.lkey, pd, piece.address + skip,
                                        part.size(), Right::kLocalWrite);
        return entry && memory.Write(*entry, piece.address + skip, part);
      });
  return done ? Scattered::kOk : Scattered::kProtection;
}

std::vector<Sge> ParseReceiveWqe(std::span<const std::byte> wqe) {
  std::vector<Sge> sges;
  while (wqe.size() >= wire::kBytes<prm::DataSegment>) {
    const auto segment = wire::Decode<prm::DataSegment>(wqe);
    wqe = wqe.subspan(wire::kBytes<prm::DataSegment>);
    if (segment.byte_count == 0) {
      if (segment.lkey == prm::kInvalidLKey) break;
      continue;
    }
    sges.push_back({.bytes = segment.byte_count,
                    .lkey = segment.lkey,
                    .address = segment.address});
  }
  return sges;
}

}  // namespace ibemu::hca::model::mlx4
