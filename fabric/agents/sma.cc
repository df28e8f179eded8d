#include "fabric/agents/sma.h"

#include <algorithm>
#include <limits>
#include <string>

#include "fabric/agents/sma_diagnostics.h"
#include "fabric/agents/sma_port_info.h"
#include "fabric/agents/sma_request.h"
#include "fabric/agents/sma_switch.h"
#include "fabric/agents/sma_tables.h"
#include "mad/smi.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/node_info.h"
#include "mad/wire/notice.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::LocalVerdict, mad::MadStatus, mad::Method,
    mad::Smp;

// Returns true for methods that a subnet manager receives, not an agent.
bool IsForManager(Method method) {
  return mad::IsResponse(method) || method == Method::kTrap ||
         method == Method::kReport;
}

MadStatus SmaNodeInfo(const SmaRequest& request) {
  if (request.set) return MadStatus::kUnsupportedAttribute;
  const Node& node = request.node;
  mad::NodeInfo info;
  info.node_type = node.type;
  info.num_ports = node.port_count;
  info.system_image_guid = node.system_image_guid;
  info.node_guid = node.node_guid;
  info.port_guid = request.port.guid;
  info.partition_cap = static_cast<uint16_t>(node.p_key_entries());
  info.device_id = node.device_id;
  info.revision = node.revision;
  info.local_port_num = request.ingress.number;
  info.vendor_id = node.vendor_id;
  return request.Answer(info);
}

// A Set is supported because CapabilityMask2 announces it.  It raises no trap.
MadStatus SmaNodeDescription(const SmaRequest& request) {
  mad::NodeDescription description;
  if (request.set) {
    description = request.Wanted<mad::NodeDescription>();
    const auto& text = description.text;
    request.node.Describe(
        std::string(text.begin(), std::find(text.begin(), text.end(), '\0')));
  }
  description = {};
  const std::string& text = request.node.description;
  std::copy_n(text.begin(), std::min(text.size(), description.text.size()),
              description.text.begin());
  return request.Answer(description);
}

// Answers with the notice that has waited longest, or an empty one.
MadStatus SmaNotice(const SmaRequest& request) {
  if (request.set) return MadStatus::kUnsupportedAttribute;
  return request.Answer(
      request.traps.Oldest(request.id()).value_or(mad::Notice{}));
}

MadStatus Dispatch(AttributeId attribute, const SmaRequest& request) {
  switch (attribute) {
    case AttributeId::kNotice:
      return SmaNotice(request);
    case AttributeId::kNodeDescription:
      return SmaNodeDescription(request);
    case AttributeId::kNodeInfo:
      return SmaNodeInfo(request);
    case AttributeId::kSwitchInfo:
      return SmaSwitchInfo(request);
    case AttributeId::kGuidInfo:
      return SmaGuidInfo(request);
    case AttributeId::kPortInfo:
      return SmaPortInfo(request);
    case AttributeId::kPKeyTable:
      return SmaPKeyTable(request);
    case AttributeId::kSlToVlMappingTable:
      return SmaSlToVlMappingTable(request);
    case AttributeId::kVlArbitrationTable:
      return SmaVlArbitrationTable(request);
    case AttributeId::kLinearForwardingTable:
      return SmaLinearForwardingTable(request);
    case AttributeId::kMulticastForwardingTable:
      return SmaMulticastForwardingTable(request);
    case AttributeId::kVendorDiag:
      return SmaVendorDiag(request);
    case AttributeId::kLedInfo:
      return SmaLedInfo(request);
    case AttributeId::kLinkSpeedWidthPairsTable:
      return SmaLinkSpeedWidthPairsTable(request);
    case AttributeId::kMellanoxExtendedPortInfo:
      return SmaMellanoxExtendedPortInfo(request);
    case AttributeId::kMellanoxGeneralInfo:
      return SmaMellanoxGeneralInfo(request);
    default:
      return MadStatus::kUnsupportedAttribute;
  }
}

}  // namespace

Sma::Sma(Subnet& subnet, Links& links, FabricEvents& events, MadSender& sender,
         Timers& timers)
    : subnet_(subnet),
      links_(links),
      events_(events),
      timers_(timers),
      traps_(subnet, events, sender, timers),
      notices_(subnet, traps_) {}

LocalVerdict Sma::Handle(PortId ingress, const mad::Arrival& arrival,
                         mad::MadBytes& reply) {
  const mad::MadBytes& smp = arrival.mad;
  const auto method = wire::Get<&Smp::method>(smp);
  const auto attribute = wire::Get<&Smp::attr_id>(smp);
  const PortId id = subnet_.management_port(ingress);
  NodePort& port = subnet_.port(id);
  if (IsForManager(method) || attribute == AttributeId::kSmInfo) {
    return LocalVerdict::kUnhandled;
  }
  if (method == Method::kTrapRepress) {
    if (attribute != AttributeId::kNotice) return LocalVerdict::kUnhandled;
    if (!PassesMKey(port, arrival)) return LocalVerdict::kConsumed;
    return traps_.Repress(id, wire::Get<&Smp::tid>(smp))
               ? LocalVerdict::kConsumed
               : LocalVerdict::kUnhandled;
  }

  reply = smp;
  wire::Put<&Smp::method>(reply, Method::kGetResp);
  if (mad::IsDirectedRoute(smp)) wire::Put<&Smp::direction>(reply, true);
  MadStatus status = MadStatus::kOk;
  if (wire::Get<&Smp::base_version>(smp) != 1 ||
      wire::Get<&Smp::class_version>(smp) != 1) {
    status = MadStatus::kUnsupportedVersion;
  } else if (method != Method::kGet && method != Method::kSet) {
    status = MadStatus::kUnsupportedMethod;
  } else if (!PassesMKey(port, arrival)) {
    return LocalVerdict::kConsumed;
  } else {
    status = Dispatch(
        attribute,
        SmaRequest{
            .subnet = subnet_,
            .links = links_,
            .events = events_,
            .traps = traps_,
            .now = timers_.Now(),
            .node = subnet_.node(port.node),
            .ingress = subnet_.port(ingress),
            .port = port,
            .set = method == Method::kSet,
            .modifier = wire::Get<&Smp::attr_mod>(smp),
            .m_key = wire::Get<&Smp::m_key>(smp),
            .data = std::span(reply)
                        .subspan<mad::kSmpDataOffset, mad::kSmpDataBytes>()});
  }
  wire::Put<&Smp::status>(reply, status);
  return LocalVerdict::kReply;
}

bool Sma::PassesMKey(NodePort& port, const mad::Arrival& request) {
  mad::PortInfo& info = port.info;
  if (port.tables && timers_.Now() >= port.tables->m_key_lease_end) {
    port.tables->m_key_lease_end = absl::InfiniteFuture();
    info.m_key_protect_bits = 0;
  }
  if (info.m_key == 0 || info.m_key == wire::Get<&Smp::m_key>(request.mad)) {
    if (port.tables) port.tables->m_key_lease_end = absl::InfiniteFuture();
    return true;
  }
  // Protection levels 0 and 1 let everybody read (level 0: the key, too).
  if (wire::Get<&Smp::method>(request.mad) == Method::kGet &&
      info.m_key_protect_bits < 2) {
    return true;
  }
  if (info.m_key_violations != std::numeric_limits<uint16_t>::max()) {
    ++info.m_key_violations;
  }
  if (info.m_key_lease_period != 0 &&
      (!port.tables ||
       port.tables->m_key_lease_end == absl::InfiniteFuture())) {
    port.Tables().m_key_lease_end =
        timers_.Now() + absl::Seconds(info.m_key_lease_period);
  }
  notices_.OnBadMKey(subnet_.id_of(port), request);
  return false;
}

}  // namespace ibemu::fabric
