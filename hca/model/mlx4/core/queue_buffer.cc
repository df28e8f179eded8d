#include "hca/model/mlx4/core/queue_buffer.h"

#include <algorithm>
#include <vector>

#include "hca/prm/mlx4_memory.h"

namespace ibemu::hca::model::mlx4 {

std::optional<uint64_t> PageAddress(Core& core, uint64_t mtt_addr,
                                    uint64_t page) {
  const auto entry = ReadStructure<prm::MttEntry>(
      core.icm,
      core.tables.mtt_base + mtt_addr + page * wire::kBytes<prm::MttEntry>);
  if (!entry || !entry->present) return std::nullopt;
  return entry->page << 3;
}

template <class Span, class Copy>
bool QueueBuffer::ForEachPage(uint64_t offset, Span bytes, Copy copy) {
  const uint64_t page_size = uint64_t{1} << place_.log_page_size;
  uint64_t place = place_.page_offset + offset;
  while (!bytes.empty()) {
    const uint64_t in_page = place & (page_size - 1);
    const size_t step = std::min<uint64_t>(bytes.size(), page_size - in_page);
    const std::optional<uint64_t> page =
        PageAddress(core_, place_.mtt_base_addr, place >> place_.log_page_size);
    if (!page || !copy(*page + in_page, bytes.first(step))) return false;
    bytes = bytes.subspan(step);
    place += step;
  }
  return true;
}

bool QueueBuffer::Read(uint64_t offset, std::span<std::byte> into) {
  return ForEachPage(offset, into,
                     [this](uint64_t bus, std::span<std::byte> part) {
                       return core_.host.Read(bus, part);
                     });
}

bool QueueBuffer::Write(uint64_t offset, std::span<const std::byte> from) {
  return ForEachPage(offset, from,
                     [this](uint64_t bus, std::span<const std::byte> part) {
                       return core_.host.Write(bus, part);
                     });
}

bool QueueBuffer::Fill(uint64_t offset, uint64_t bytes,
                       std::span<const std::byte> entry) {
  constexpr uint64_t kAtOnce = 4096;
  std::vector<std::byte> block;
  while (block.size() < std::min(bytes, kAtOnce)) {
    block.insert(block.end(), entry.begin(), entry.end());
  }
  for (uint64_t done = 0; done < bytes; done += block.size()) {
    const uint64_t step = std::min<uint64_t>(block.size(), bytes - done);
    if (!Write(offset + done, std::span(block).first(step))) return false;
  }
  return true;
}

bool QueueBuffer::Translates(uint64_t bytes) {
  const uint64_t pages = (place_.page_offset + bytes +
                          (uint64_t{1} << place_.log_page_size) - 1) >>
                         place_.log_page_size;
  for (uint64_t page = 0; page < pages; ++page) {
    if (!PageAddress(core_, place_.mtt_base_addr, page)) return false;
  }
  return true;
}

}  // namespace ibemu::hca::model::mlx4
