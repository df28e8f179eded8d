#include "hca/model/mlx4/core/model_mcg_table.h"

#include <algorithm>

namespace ibemu::hca::model::mlx4 {

namespace {

using Status = prm::CommandStatus;

constexpr size_t kMcgHeaderBytes = wire::kBytes<prm::McgHeader>;
constexpr size_t kMcgMemberBytes = wire::kBytes<prm::McgMember>;

}  // namespace

Status ModelMcgTable::Check(uint32_t index) const {
  if (index >> core_.tables.log_mc_table_sz != 0) return Status::kBadIndex;
  return core_.icm.Contains(Place(index), entry_bytes()) ? Status::kOk
                                                         : Status::kIcmError;
}

Status ModelMcgTable::Read(uint32_t index, std::span<std::byte> entry) {
  if (const Status status = Check(index); status != Status::kOk) return status;
  return core_.icm.Read(Place(index), entry) ? Status::kOk
                                             : Status::kInternalError;
}

Status ModelMcgTable::Write(uint32_t index, std::span<const std::byte> entry) {
  if (const Status status = Check(index); status != Status::kOk) return status;
  const auto header = wire::Decode<prm::McgHeader>(entry);
  const size_t room = (entry.size() - kMcgHeaderBytes) / kMcgMemberBytes;
  if (header.member_count > room ||
      header.next_gid_index >> core_.tables.log_mc_table_sz != 0) {
    return Status::kBadParam;
  }
  // Reserved bits must be zero.
  std::vector<std::byte> expected;
  wire::Append(header, expected);
  for (size_t i = 0; i < header.member_count; ++i) {
    wire::Append(wire::Decode<prm::McgMember>(
                     entry.subspan(kMcgHeaderBytes + i * kMcgMemberBytes)),
                 expected);
  }
  if (!std::ranges::equal(expected, entry.first(expected.size()))) {
    return Status::kBadParam;
  }
  return core_.icm.Write(Place(index), entry) ? Status::kOk
                                              : Status::kInternalError;
}

uint32_t ModelMcgTable::Hash(std::span<const uint8_t, 16> gid) const {
  uint32_t hash = 0;
  for (size_t i = 0; i < gid.size(); i += 2) {
    hash ^= static_cast<uint32_t>(gid[i]) << 8 | gid[i + 1];
  }
  return hash & ((1u << core_.tables.log_mc_hash_sz) - 1);
}

std::vector<prm::McgMember> ModelMcgTable::Members(
    std::span<const uint8_t, 16> gid) {
  std::vector<std::byte> entry(entry_bytes());
  uint32_t index = Hash(gid);
  // A chain is no longer than the table, unless software made a loop of it.
  for (uint32_t steps = 0; steps >> core_.tables.log_mc_table_sz == 0;
       ++steps) {
    if (Read(index, entry) != Status::kOk) return {};
    const auto header = wire::Decode<prm::McgHeader>(entry);
    if (std::ranges::equal(header.gid, gid)) {
      std::vector<prm::McgMember> members;
      // The count is limited, because the host may have written anything to
      // this memory.
      const size_t room = (entry.size() - kMcgHeaderBytes) / kMcgMemberBytes;
      for (size_t i = 0; i < std::min<size_t>(header.member_count, room); ++i) {
        members.push_back(wire::Decode<prm::McgMember>(
            std::span(entry).subspan(kMcgHeaderBytes + i * kMcgMemberBytes)));
      }
      return members;
    }
    if (header.next_gid_index == 0) return {};
    index = header.next_gid_index;
  }
  return {};
}

}  // namespace ibemu::hca::model::mlx4
