#include "hca/mlx4/verbs/mcg_table.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/status_macros.h"
#include "hca/mlx4/core/icm_layout.h"

namespace ibemu::hca::mlx4 {
namespace {

constexpr uint8_t kInfiniBand = 0;  // MLX4_PROT_IB_IPV6
constexpr size_t kHeader = wire::kBytes<prm::McgHeader>;
constexpr size_t kMember = wire::kBytes<prm::McgMember>;

bool IsFree(const prm::McgHeader& header) {
  return header.member_count == 0 && header.gid == verbs::GidBytes{};
}

}  // namespace

McgTable::McgTable(Resources& resources)
    : resources_(resources),
      entry_bytes_(size_t{1} << kLogMulticastEntry),
      entries_(resources.adapter()
                   .firmware()
                   .layout()[IcmTable::kMulticast]
                   .entries()) {
  chained_.Add(entries_ / 2, entries_ / 2);
}

absl::StatusOr<McgTable::Group> McgTable::Read(uint32_t index) {
  std::vector<std::byte> entry(entry_bytes_);
  IBEMU_RETURN_IF_ERROR(resources_.commands().Ask(
      prm::Opcode::kReadMcg, std::span(entry), {.in = index}));
  Group group{.index = index,
              .header = wire::Decode<prm::McgHeader>(entry),
              .members = {}};
  const size_t room = (entry.size() - kHeader) / kMember;
  for (size_t i = 0; i < std::min<size_t>(group.header.member_count, room);
       ++i) {
    group.members.push_back(wire::Decode<prm::McgMember>(
        std::span(entry).subspan(kHeader + i * kMember, kMember)));
  }
  return group;
}

absl::Status McgTable::Write(const Group& group) {
  std::vector<std::byte> entry(entry_bytes_);
  prm::McgHeader header = group.header;
  header.protocol = kInfiniBand;
  header.member_count = static_cast<uint32_t>(group.members.size());
  wire::Encode(header, entry);
  for (size_t i = 0; i < group.members.size(); ++i) {
    wire::Encode(group.members[i],
                 std::span(entry).subspan(kHeader + i * kMember, kMember));
  }
  return resources_.commands().Send(prm::Opcode::kWriteMcg,
                                    std::span<const std::byte>(entry),
                                    {.in = group.index});
}

absl::StatusOr<McgTable::Place> McgTable::Find(const verbs::GidBytes& gid) {
  // MGID_HASH takes a mailbox, and its answer is a number.
  FirmwareCommand ask{.opcode = static_cast<uint16_t>(prm::Opcode::kMgidHash),
                      .in = std::as_bytes(std::span(gid))};
  IBEMU_ASSIGN_OR_RETURN(const CommandResult answer,
                         resources_.commands().channel().Execute(ask));
  IBEMU_RETURN_IF_ERROR(StatusOf(prm::Opcode::kMgidHash, answer.status));
  Place place;
  auto index = static_cast<uint32_t>(answer.out_parameter & 0xffff);
  for (uint64_t steps = 0; steps < entries_; ++steps) {
    IBEMU_ASSIGN_OR_RETURN(place.group, Read(index));
    const prm::McgHeader& header = place.group.header;
    place.found = header.gid == gid && !IsFree(header);
    index = header.next_gid_index;
    if (place.found || index == 0) return place;
    place.before = place.group;
  }
  // The table is in the host's memory, so anything may be in it.
  return absl::InternalError(
      "the adapter's list of multicast groups is a ring");
}

absl::Status McgTable::Attach(const verbs::GidBytes& gid, uint32_t qpn,
                              size_t most) {
  IBEMU_ASSIGN_OR_RETURN(Place place, Find(gid));
  Group& group = place.group;
  if (place.found || IsFree(group.header)) {
    const bool member =
        place.found && std::ranges::any_of(group.members, [qpn](auto& other) {
          return other.qpn == qpn;
        });
    if (member) return absl::OkStatus();
    if (group.members.size() >= most) {
      return absl::ResourceExhaustedError("the multicast group is full");
    }
    group.header.gid = gid;
    group.members.push_back({.qpn = qpn});
    return Write(group);
  }
  const std::optional<uint64_t> index = chained_.Take();
  if (!index) {
    return absl::ResourceExhaustedError("the device has no more groups");
  }
  Group added{.index = static_cast<uint32_t>(*index),
              .header = {},
              .members = {{.qpn = qpn}}};
  added.header.gid = gid;
  // The entry is written before the list leads to it.
  absl::Status written = Write(added);
  if (written.ok()) {
    group.header.next_gid_index = added.index;
    written = Write(group);
  }
  if (!written.ok()) chained_.Return(*index);
  return written;
}

absl::Status McgTable::Detach(const verbs::GidBytes& gid, uint32_t qpn) {
  IBEMU_ASSIGN_OR_RETURN(Place place, Find(gid));
  if (!place.found) return absl::OkStatus();
  std::erase_if(place.group.members,
                [qpn](const auto& member) { return member.qpn == qpn; });
  if (!place.group.members.empty()) return Write(place.group);
  return Remove(place);
}

// Removes a group that has no members.  The first entry of a list keeps its
// index, so the second group moves there.
absl::Status McgTable::Remove(const Place& place) {
  const uint32_t next = place.group.header.next_gid_index;
  if (place.before) {
    Group before = *place.before;
    before.header.next_gid_index = next;
    IBEMU_RETURN_IF_ERROR(Write(before));
    chained_.Return(place.group.index);
    return absl::OkStatus();
  }
  Group first{.index = place.group.index, .header = {}, .members = {}};
  if (next == 0) return Write(first);
  IBEMU_ASSIGN_OR_RETURN(Group second, Read(next));
  second.index = first.index;
  IBEMU_RETURN_IF_ERROR(Write(second));
  chained_.Return(next);
  return absl::OkStatus();
}

}  // namespace ibemu::hca::mlx4
