#include "fabric/sa/sa_lookup.h"

#include <utility>

#include "fabric/sa/node_records.h"
#include "fabric/sa/path_records.h"
#include "fabric/sa/table_records.h"
#include "mad/wire/class_port_info.h"
#include "mad/wire/sa_component_mask.h"
#include "mad/wire/sa_paths.h"
#include "mad/wire/sa_records.h"
#include "mad/wire/sa_services.h"

namespace ibemu::fabric {

using mad::AttributeId, mad::kComponentBit, mad::MadStatus, mad::Method,
    mad::SaHeader;

uint16_t SaLookup::AttributeOffset(const SaHeader& header) {
  switch (header.mad.attr_id) {
    case AttributeId::kNodeRecord:
      return mad::kAttributeOffset<mad::NodeRecord>;
    case AttributeId::kPortInfoRecord:
      return mad::kAttributeOffset<mad::PortInfoRecord>;
    case AttributeId::kSwitchInfoRecord:
      return mad::kAttributeOffset<mad::SwitchInfoRecord>;
    case AttributeId::kLinkRecord:
      return mad::kAttributeOffset<mad::LinkRecord>;
    case AttributeId::kSmInfoRecord:
      return mad::kAttributeOffset<mad::SmInfoRecord>;
    case AttributeId::kSlToVlMappingTableRecord:
      return mad::kAttributeOffset<mad::SlToVlMappingTableRecord>;
    case AttributeId::kMcMemberRecord:
      return mad::kAttributeOffset<mad::McMemberRecord>;
    case AttributeId::kServiceRecord:
      return mad::kAttributeOffset<mad::ServiceRecord>;
    case AttributeId::kInformInfoRecord:
      return mad::kAttributeOffset<mad::InformInfoRecord>;
    case AttributeId::kClassPortInfo:
      return mad::kAttributeOffset<mad::ClassPortInfo>;
    case AttributeId::kMultiPathRecord:
      return mad::kAttributeOffset<mad::PathRecord>;
    case AttributeId::kPathRecord:
      return header.mad.method == Method::kGetTraceTable
                 ? mad::kAttributeOffset<mad::TraceRecord>
                 : mad::kAttributeOffset<mad::PathRecord>;
    default:  // a table of 64 bytes after a header of 8
      return mad::kAttributeOffset<mad::GuidInfoRecord>;
  }
}

MadStatus SaLookup::Check(const SaRequest& request) const {
  const Method method = request.header.mad.method;
  const AttributeId attribute = request.header.mad.attr_id;
  if (method == Method::kGetMulti) {
    return attribute == AttributeId::kMultiPathRecord
               ? CheckMultiPathRequest(directory_, request)
               : MadStatus::kUnsupportedAttribute;
  }
  if (method == Method::kGetTraceTable) {
    return attribute == AttributeId::kPathRecord
               ? CheckPathRequest(request)
               : MadStatus::kUnsupportedAttribute;
  }
  switch (attribute) {
    case AttributeId::kClassPortInfo:
      return method == Method::kGet ? MadStatus::kOk
                                    : MadStatus::kSaRequestInvalid;
    case AttributeId::kPathRecord:
      return CheckPathRequest(request);
    case AttributeId::kPKeyTableRecord:
      // Only for trusted requests, IBA vol 1 §15.4.1.
      return request.trusted ? MadStatus::kOk : MadStatus::kSaRequestInvalid;
    case AttributeId::kMultiPathRecord:
    case AttributeId::kTraceRecord:
      return MadStatus::kUnsupportedAttribute;
    default:
      return MadStatus::kOk;
  }
}

bool SaLookup::FindAtOnce(const SaRequest& request, SaRecords& records) const {
  switch (request.header.mad.attr_id) {
    case AttributeId::kClassPortInfo:
      AddClassPortInfo(records);
      return true;
    case AttributeId::kSmInfoRecord:
      AddManagers(request, records);
      return true;
    case AttributeId::kMcMemberRecord:
      groups_.Find(request, records);
      return true;
    case AttributeId::kServiceRecord:
      services_.Find(request, records);
      return true;
    case AttributeId::kInformInfoRecord:
      subscriptions_.Find(request, records);
      return true;
    case AttributeId::kPathRecord: {
      const auto wanted = request.Record<mad::PathRecord>();
      if (!request.Has(kComponentBit<&mad::PathRecord::dgid>) ||
          !wire::IsMulticast(wanted.dgid)) {
        return false;
      }
      const MulticastGroups::Group* const group = groups_.Find(wanted.dgid);
      mad::PathRecord path;
      if (group != nullptr && groups_.MayTakePath(request, *group) &&
          GroupPath(request, group->parameters, path) &&
          request.header.mad.method != Method::kGetTraceTable) {
        records.Add(path);
      }
      return true;
    }
    default:
      return false;
  }
}

std::unique_ptr<RecordSource> SaLookup::SourceFor(
    const SaRequest& request) const {
  switch (request.header.mad.attr_id) {
    case AttributeId::kPathRecord:
      return request.header.mad.method == Method::kGetTraceTable
                 ? TraceRecords(directory_, request)
                 : PathRecords(directory_, request);
    case AttributeId::kMultiPathRecord:
      return MultiPathRecords(directory_, request);
    default:
      break;
  }
  auto source = NodeRecords(directory_, request);
  return source != nullptr ? std::move(source)
                           : TableRecords(directory_, request);
}

void SaLookup::AddClassPortInfo(SaRecords& records) const {
  // Capabilities beyond those of every SA (§15.2.4): Get(Notice), UD multicast,
  // multiple paths, and CapabilityMask compared bit by bit.
  constexpr uint16_t kGetSetNotice = 1 << 1, kUdMulticast = 1 << 9,
                     kMultiPath = 1 << 10, kCapabilityMatch = 1 << 13;
  // More capabilities: complete PortInfoRecords, extended speeds, alias GUIDs,
  // multicast services, CapabilityMask2 compared, send-only full members, 2x
  // links, HDR.
  constexpr uint32_t kMask2 =
      1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 9 | 1 << 12 | 1 << 13 | 1 << 14;
  constexpr uint8_t kResponseTime = 16;
  mad::ClassPortInfo info;
  info.class_version = mad::kSaClassVersion;
  info.capability_mask =
      kGetSetNotice | kUdMulticast | kMultiPath | kCapabilityMatch;
  info.capability_mask2 = kMask2;
  info.resp_time_value = kResponseTime;
  info.redirect_qp = 1;
  info.redirect_q_key = info.trap_q_key = mad::kQp1QKey;
  records.Add(info);
}

void SaLookup::AddManagers(const SaRequest& request, SaRecords& records) const {
  const auto wanted = request.Record<mad::SmInfoRecord>();
  for (const SmIdentity& manager : managers_()) {
    const mad::SmInfoRecord record{.lid = manager.lid,
                                   .sm_info = {.guid = manager.guid,
                                               .act_count = manager.act_count,
                                               .priority = manager.priority,
                                               .sm_state = manager.state}};
    if (mad::MatchesComponents(wanted, record, request.header.component_mask)) {
      records.Add(record);
    }
  }
}

}  // namespace ibemu::fabric
