#include "fabric/sa/table_records.h"

#include <span>

#include "fabric/sa/port_scan.h"
#include "mad/wire/sa_records.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::GuidInfoRecord, mad::kComponentBit,
    mad::LinearForwardingTableRecord, mad::MulticastForwardingTableRecord,
    mad::PKeyTableRecord, mad::SlToVlMappingTableRecord,
    mad::VlArbitrationTableRecord;

// Returns the components to ignore: an adapter's port is identified by its LID,
// whatever port number is requested.
template <auto kMember, class T>
uint64_t PortOfSwitch(const PortQuery<T>& query) {
  return query.node.is_switch() ? 0 : kComponentBit<kMember>;
}

void AddGuidInfoRecords(const PortQuery<GuidInfoRecord>& query) {
  constexpr int kBlockEntries = 8;
  if (query.node.is_switch() && query.port.number != 0) return;
  for (int block = 0; block < query.port.info.guid_cap / kBlockEntries;
       ++block) {
    GuidInfoRecord record{.lid = query.lid,
                          .block_num = static_cast<uint8_t>(block)};
    for (int i = 0; i < kBlockEntries; ++i) {
      record.guid_info.guids[static_cast<size_t>(i)] =
          query.port.GuidAt(block * kBlockEntries + i);
    }
    query.Offer(record);
  }
}

void AddPKeyTableRecords(const PortQuery<PKeyTableRecord>& query) {
  constexpr int kBlockEntries = 32;
  for (int block = 0; block < query.node.p_key_entries() / kBlockEntries;
       ++block) {
    PKeyTableRecord record{.lid = query.lid,
                           .block_num = static_cast<uint16_t>(block),
                           .port_num = query.port.number};
    for (int i = 0; i < kBlockEntries; ++i) {
      record.table.p_keys[static_cast<size_t>(i)] =
          query.port.PKeyAt(block * kBlockEntries + i);
    }
    query.Offer(record, PortOfSwitch<&PKeyTableRecord::port_num>(query));
  }
}

// A channel adapter has one record, in which both port numbers are 0.
void AddSlToVlRecords(const PortQuery<SlToVlMappingTableRecord>& query) {
  const bool is_switch = query.node.is_switch();
  const int last = is_switch ? query.node.port_count : 0;
  for (int ingress = 0; ingress <= last; ++ingress) {
    SlToVlMappingTableRecord record{
        .lid = query.lid,
        .input_port_num = static_cast<uint8_t>(ingress),
        .output_port_num = is_switch ? query.port.number : uint8_t{0}};
    for (size_t sl = 0; sl < record.table.vls.size(); ++sl) {
      record.table.vls[sl] = query.port.VlOf(static_cast<uint8_t>(sl), ingress);
    }
    query.Offer(
        record,
        PortOfSwitch<&SlToVlMappingTableRecord::input_port_num>(query) |
            PortOfSwitch<&SlToVlMappingTableRecord::output_port_num>(query));
  }
}

void AddVlArbitrationRecords(const PortQuery<VlArbitrationTableRecord>& query) {
  for (uint8_t block = 1; block <= 4; ++block) {
    const VlArbitrationTableRecord record{
        .lid = query.lid,
        .output_port_num = query.port.number,
        .block_num = block,
        .table = query.port.VlArbitration(block - 1u)};
    query.Offer(
        record,
        PortOfSwitch<&VlArbitrationTableRecord::output_port_num>(query));
  }
}

void AddLinearRecords(const PortQuery<LinearForwardingTableRecord>& query) {
  if (!IsSwitchPort0(query)) return;
  const uint32_t last =
      query.node.sw->info.linear_fdb_top / LinearTable::kBlockEntries;
  for (uint32_t block = 0; block <= last; ++block) {
    if (query.Asks(kComponentBit<&LinearForwardingTableRecord::block_num>) &&
        query.wanted.block_num != block) {
      continue;
    }
    LinearForwardingTableRecord record{
        .lid = query.lid, .block_num = static_cast<uint16_t>(block)};
    record.table.ports = query.node.sw->linear.block(block);
    query.Offer(record);
  }
}

// Adds blocks up to the last one with a group in it.
void AddMulticastRecords(
    const PortQuery<MulticastForwardingTableRecord>& query) {
  if (!IsSwitchPort0(query)) return;
  const MulticastTable& tables = query.node.sw->multicast;
  const int positions =
      query.node.port_count / MulticastTable::kPortsPerMask + 1;
  const auto in_use = [&](uint32_t block) {
    for (int position = 0; position < positions; ++position) {
      if (tables.block(block, position) != MulticastTable::Block{}) return true;
    }
    return false;
  };
  uint32_t end = query.node.sw->info.multicast_fdb_cap /
                 uint32_t{MulticastTable::kBlockEntries};
  while (end > 0 && !in_use(end - 1)) --end;
  for (uint32_t block = 0; block < end; ++block) {
    for (int position = 0; position < positions; ++position) {
      MulticastForwardingTableRecord record{
          .lid = query.lid,
          .position = static_cast<uint8_t>(position),
          .block_num = static_cast<uint16_t>(block)};
      record.table.port_masks = tables.block(block, position);
      query.Offer(record);
    }
  }
}

}  // namespace

std::unique_ptr<RecordSource> TableRecords(const Directory& directory,
                                           const SaRequest& request) {
  switch (request.header.mad.attr_id) {
    case AttributeId::kGuidInfoRecord:
      return Scan<GuidInfoRecord, AddGuidInfoRecords>(directory, request);
    case AttributeId::kPKeyTableRecord:
      return Scan<PKeyTableRecord, AddPKeyTableRecords>(directory, request);
    case AttributeId::kSlToVlMappingTableRecord:
      return Scan<SlToVlMappingTableRecord, AddSlToVlRecords>(directory,
                                                              request);
    case AttributeId::kVlArbitrationTableRecord:
      return Scan<VlArbitrationTableRecord, AddVlArbitrationRecords>(directory,
                                                                     request);
    case AttributeId::kLinearForwardingTableRecord:
      return Scan<LinearForwardingTableRecord, AddLinearRecords>(directory,
                                                                 request);
    case AttributeId::kMulticastForwardingTableRecord:
      return Scan<MulticastForwardingTableRecord, AddMulticastRecords>(
          directory, request);
    default:
      return nullptr;
  }
}

}  // namespace ibemu::fabric
