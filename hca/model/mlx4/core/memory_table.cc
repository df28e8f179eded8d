#include "hca/model/mlx4/core/memory_table.h"

#include <algorithm>
#include <vector>

#include "hca/model/mlx4/core/queue_buffer.h"

namespace ibemu::hca::model::mlx4 {

namespace {

using Status = prm::CommandStatus;

constexpr int kMaxLogPage = 31;
// Of one FAST_REGISTER, so that one request takes no more than 1 MiB.
constexpr uint64_t kMaxPages = 131'072;

// Returns true if the entry's page size allows translation of addresses.
bool Translatable(const Core& core, const prm::Mpt& entry) {
  return entry.physical || (entry.entity_size >= core.cap.log_page_sz &&
                            entry.entity_size <= kMaxLogPage);
}

bool Allows(const prm::Mpt& entry, Right right) {
  switch (right) {
    case Right::kLocalRead:
      return entry.local_read;
    case Right::kLocalWrite:
      return entry.local_write;
    case Right::kRemoteRead:
      return entry.remote_read;
    case Right::kRemoteWrite:
      return entry.remote_write;
    case Right::kAtomic:
      return entry.atomic;
  }
  return false;
}

}  // namespace

Status MemoryTable::Start(uint32_t index, const prm::Mpt& entry) {
  if (const Status status = core_.CheckMpt(index); status != Status::kOk) {
    return status;
  }
  const std::optional<prm::Mpt> old = Find(index);
  if (!old) return Status::kInternalError;
  // ICM may hold anything before its first use, so an entry counts as owned by
  // the adapter only if it has a key.
  if (old->status != prm::MptStatus::kSoftware && old->key != 0) {
    return Status::kBadResourceState;
  }
  const bool given = entry.status == prm::MptStatus::kSoftware ||
                     entry.status == prm::MptStatus::kFree;
  const bool aligned = entry.mtt_addr % wire::kBytes<prm::MttEntry> == 0;
  if (!given) return Status::kBadResourceState;
  if (!entry.region || (entry.key & (core_.mpt_count() - 1)) != index ||
      entry.pd >> core_.cap.log_max_pd != 0 || !aligned ||
      (entry.status == prm::MptStatus::kSoftware ? !Translatable(core_, entry)
                                                 : entry.physical)) {
    return Status::kBadParam;
  }
  prm::Mpt owned = entry;
  if (entry.status == prm::MptStatus::kSoftware) {
    owned.status = prm::MptStatus::kHardware;
  }
  return WriteStructure(core_.icm, Place(index), owned)
             ? Status::kOk
             : Status::kInternalError;
}

Status MemoryTable::Stop(uint32_t index) {
  if (const Status status = core_.CheckMpt(index); status != Status::kOk) {
    return status;
  }
  std::optional<prm::Mpt> entry = Find(index);
  if (!entry) return Status::kInternalError;
  if (entry->status == prm::MptStatus::kSoftware || entry->key == 0) {
    return Status::kBadResourceState;
  }
  entry->status = prm::MptStatus::kSoftware;
  return WriteStructure(core_.icm, Place(index), *entry)
             ? Status::kOk
             : Status::kInternalError;
}

std::optional<prm::Mpt> MemoryTable::Find(uint32_t index) {
  return ReadStructure<prm::Mpt>(core_.icm, Place(index));
}

std::optional<prm::Mpt> MemoryTable::Check(uint32_t key, uint32_t pd,
                                           uint64_t address, uint64_t bytes,
                                           Right right) {
  const std::optional<prm::Mpt> entry = FindKey(key, pd);
  if (!entry || !Allows(*entry, right) || !Translatable(core_, *entry)) {
    return std::nullopt;
  }
  if (address < entry->start || bytes > entry->length ||
      address - entry->start > entry->length - bytes) {
    return std::nullopt;
  }
  return entry;
}

template <class Span, class Copy>
bool MemoryTable::ForEachPage(const prm::Mpt& entry, uint64_t address,
                              Span bytes, Copy copy) {
  if (entry.physical) return copy(address, bytes);
  const uint64_t page_size = uint64_t{1} << entry.entity_size;
  // The first page holds `start` at the offset given by its lowest bits.
  uint64_t place =
      address - (entry.start & ~(page_size - 1)) + entry.first_byte_offset;
  while (!bytes.empty()) {
    const uint64_t in_page = place & (page_size - 1);
    const size_t step = std::min<uint64_t>(bytes.size(), page_size - in_page);
    const std::optional<uint64_t> page =
        PageAddress(core_, entry.mtt_addr, place >> entry.entity_size);
    if (!page || !copy(*page + in_page, bytes.first(step))) return false;
    bytes = bytes.subspan(step);
    place += step;
  }
  return true;
}

bool MemoryTable::Read(const prm::Mpt& entry, uint64_t address,
                       std::span<std::byte> into) {
  return ForEachPage(entry, address, into,
                     [this](uint64_t bus, std::span<std::byte> part) {
                       return core_.host.Read(bus, part);
                     });
}

bool MemoryTable::Write(const prm::Mpt& entry, uint64_t address,
                        std::span<const std::byte> from) {
  return ForEachPage(entry, address, from,
                     [this](uint64_t bus, std::span<const std::byte> part) {
                       return core_.host.Write(bus, part);
                     });
}

uint32_t MemoryTable::IndexOf(uint32_t key) const {
  return prm::MptOfKey(key) & (core_.mpt_count() - 1);
}

std::optional<prm::Mpt> MemoryTable::FindKey(uint32_t key, uint32_t pd) {
  const uint32_t index = IndexOf(key);
  if (core_.CheckMpt(index) != Status::kOk) return std::nullopt;
  const std::optional<prm::Mpt> entry = Find(index);
  const bool found = entry && entry->status == prm::MptStatus::kHardware &&
                     entry->key == prm::MptOfKey(key) && entry->pd == pd &&
                     entry->region;
  return found ? entry : std::nullopt;
}

bool MemoryTable::FastRegister(const prm::FastRegisterSegment& request,
                               uint32_t pd) {
  const uint32_t index = IndexOf(request.key);
  if (core_.CheckMpt(index) != Status::kOk) return false;
  std::optional<prm::Mpt> entry = Find(index);
  if (!entry || entry->status != prm::MptStatus::kFree || !entry->region ||
      entry->physical || !entry->fast_register_enable || entry->pd != pd ||
      (request.atomic && !entry->remote_atomic_enable)) {
    return false;
  }
  entry->status = prm::MptStatus::kHardware;
  entry->key = prm::MptOfKey(request.key);
  entry->local_read = request.local_read;
  entry->local_write = request.local_write;
  entry->remote_read = request.remote_read;
  entry->remote_write = request.remote_write;
  entry->atomic = request.atomic;
  entry->start = request.start;
  entry->length = request.length;
  entry->entity_size = request.log_page_size;
  entry->first_byte_offset = request.offset;
  if (!Translatable(core_, *entry)) return false;
  const uint64_t page = uint64_t{1} << request.log_page_size;
  const uint64_t before = (request.start & (page - 1)) + request.offset;
  const uint64_t room = std::min<uint64_t>(entry->mtt_sz, kMaxPages)
                        << request.log_page_size;
  if (request.length > room || before > room - request.length) return false;
  const uint64_t pages =
      (before + request.length + page - 1) >> request.log_page_size;
  std::vector<std::byte> list(pages * wire::kBytes<prm::MttEntry>);
  return core_.host.Read(request.page_list, list) &&
         WriteMtts(entry->mtt_addr / wire::kBytes<prm::MttEntry>, list) ==
             Status::kOk &&
         WriteStructure(core_.icm, Place(index), *entry);
}

bool MemoryTable::Invalidate(uint32_t key, uint32_t pd) {
  std::optional<prm::Mpt> entry = FindKey(key, pd);
  if (!entry || !entry->fast_register_enable ||
      entry->invalidate_enable != prm::kInvalidateLocalAndRemote) {
    return false;
  }
  entry->status = prm::MptStatus::kFree;
  return WriteStructure(core_.icm, Place(IndexOf(key)), *entry);
}

Status MemoryTable::WriteMtts(uint64_t first,
                              std::span<const std::byte> entries) {
  const uint64_t place =
      core_.tables.mtt_base + first * wire::kBytes<prm::MttEntry>;
  if (!core_.icm.Contains(place, entries.size())) return Status::kIcmError;
  return core_.icm.Write(place, entries) ? Status::kOk : Status::kInternalError;
}

}  // namespace ibemu::hca::model::mlx4
