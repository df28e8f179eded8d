#include "fabric/sa/alias_guids.h"

#include <optional>

#include "fabric/sa/partitions.h"
#include "mad/wire/sa_component_mask.h"

namespace ibemu::fabric {
namespace {

using mad::GuidInfoRecord, mad::MadStatus;

constexpr int kBlockGuids = 8;

bool Names(const SaRequest& request, int entry) {
  constexpr uint64_t kFirst =
      mad::kInnerComponentBit<&GuidInfoRecord::guid_info,
                              &mad::GuidInfo::guids>;
  return request.Has(kFirst << entry);
}

}  // namespace

MadStatus AliasGuids::FindBlock(const SaRequest& request,
                                const GuidInfoRecord& record, PortId& port) {
  if (!request.Has(mad::kComponentBit<&GuidInfoRecord::lid> |
                   mad::kComponentBit<&GuidInfoRecord::block_num>)) {
    return MadStatus::kSaInsufficientComponents;
  }
  const std::optional<PortId> found = directory_.FindLid(record.lid);
  if (!found ||
      !ShareAPKey(subnet_.port(*found), subnet_.port(request.requester))) {
    return MadStatus::kSaNoRecords;
  }
  port = *found;
  if (record.block_num >= subnet_.port(port).info.guid_cap / kBlockGuids) {
    return MadStatus::kSaNoRecords;
  }
  // A port's own GUID cannot be changed.
  return record.block_num == 0 && Names(request, 0)
             ? MadStatus::kSaRequestInvalid
             : MadStatus::kOk;
}

// Returns an unused GUID: an OUI of OpenIB, then a number.
uint64_t AliasGuids::NewGuid() {
  constexpr uint64_t kOpenIb = uint64_t{0x001405} << 40;
  uint64_t guid = 0;
  do {
    guid = kOpenIb | ++given_;
  } while (directory_.FindGuid(guid));
  return guid;
}

MadStatus AliasGuids::Set(const SaRequest& request, GuidInfoRecord& record) {
  record = request.Record<GuidInfoRecord>();
  PortId id = kNoPort;
  const MadStatus status = FindBlock(request, record, id);
  if (status != MadStatus::kOk) return status;
  NodePort& port = subnet_.port(id);
  for (int i = 0; i < kBlockGuids; ++i) {
    if (!Names(request, i)) continue;
    const int index = record.block_num * kBlockGuids + i;
    uint64_t& wanted = record.guid_info.guids[static_cast<size_t>(i)];
    if (wanted == 0) wanted = port.GuidAt(index);
    if (wanted == 0) wanted = NewGuid();
    if (wanted == port.GuidAt(index)) continue;
    if (directory_.FindGuid(wanted)) {
      wanted = 0;
    } else {
      port.SetGuid(index, wanted);
    }
  }
  events_.OnPortChange(id);
  return MadStatus::kOk;
}

MadStatus AliasGuids::Delete(const SaRequest& request, GuidInfoRecord& record) {
  record = request.Record<GuidInfoRecord>();
  PortId id = kNoPort;
  const MadStatus status = FindBlock(request, record, id);
  if (status != MadStatus::kOk) return status;
  NodePort& port = subnet_.port(id);
  const int first = record.block_num * kBlockGuids;
  for (int i = 0; i < kBlockGuids; ++i) {
    const uint64_t guid = port.GuidAt(first + i);
    if (Names(request, i) && guid != 0 && groups_.IsMember(guid)) {
      return MadStatus::kSaRequestDenied;
    }
  }
  for (int i = 0; i < kBlockGuids; ++i) {
    if (Names(request, i)) port.SetGuid(first + i, 0);
    record.guid_info.guids[static_cast<size_t>(i)] = port.GuidAt(first + i);
  }
  events_.OnPortChange(id);
  return MadStatus::kOk;
}

}  // namespace ibemu::fabric
