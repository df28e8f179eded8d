#include "fabric/sma.h"

#include <algorithm>

#include "mad/wire/mad_header.h"
#include "mad/wire/node_info.h"
#include "mad/wire/smp.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::LocalVerdict, mad::MadStatus, mad::Method,
    mad::Smp;

std::span<std::byte> Data(mad::MadBytes& mad) {
  return std::span(mad).subspan(mad::kSmpDataOffset, mad::kSmpDataBytes);
}

mad::NodeInfo NodeInfoOf(const Node& node, const NodePort& port) {
  mad::NodeInfo info;
  info.node_type = node.type;
  info.num_ports = node.port_count;
  info.system_image_guid = node.system_image_guid;
  info.node_guid = node.node_guid;
  info.port_guid = port.guid;
  info.partition_cap = kPKeyTableEntries;
  info.device_id = node.device_id;
  info.revision = node.revision;
  info.local_port_num = port.number;
  info.vendor_id = node.vendor_id;
  return info;
}

mad::NodeDescription DescriptionOf(const Node& node) {
  mad::NodeDescription description;
  std::copy(node.description.begin(), node.description.end(),
            description.text.begin());
  return description;
}

}  // namespace

Sma::Sma(Subnet& subnet, Links& links, FabricEvents& events, MadSender& sender,
         Timers& timers)
    : subnet_(subnet),
      links_(links),
      events_(events),
      sender_(sender),
      timers_(timers) {}

LocalVerdict Sma::Handle(PortId id, const mad::Arrival& request,
                         mad::MadBytes& reply) {
  const NodePort& port = subnet_.port(id);
  const Node& node = subnet_.node(port.node);
  const auto method = wire::Get<&Smp::method>(request.mad);
  if (method != Method::kGet && method != Method::kSet) {
    return LocalVerdict::kUnhandled;
  }
  const auto attribute = wire::Get<&Smp::attr_id>(request.mad);
  if (attribute == AttributeId::kSmInfo) return LocalVerdict::kUnhandled;

  reply = request.mad;
  wire::Put<&Smp::method>(reply, Method::kGetResp);
  if (wire::Get<&Smp::mgmt_class>(request.mad) ==
      mad::MgmtClass::kSubnetDirectedRoute) {
    wire::Put<&Smp::direction>(reply, true);
  }
  MadStatus status = MadStatus::kOk;
  const uint32_t modifier = wire::Get<&Smp::attr_mod>(request.mad);
  if (method == Method::kGet && attribute == AttributeId::kNodeInfo) {
    wire::Encode(NodeInfoOf(node, port), Data(reply));
  } else if (method == Method::kGet &&
             attribute == AttributeId::kNodeDescription) {
    wire::Encode(DescriptionOf(node), Data(reply));
  } else if (method == Method::kGet && attribute == AttributeId::kPortInfo) {
    const int number = static_cast<int>(modifier & 0xff);
    if (subnet_.has_port(node, number)) {
      wire::Encode(subnet_.port(subnet_.port_id(node, number)).info,
                   Data(reply));
    } else {
      status = MadStatus::kInvalidField;
    }
  } else {
    status = MadStatus::kUnsupportedAttribute;
  }
  wire::Put<&Smp::status>(reply, status);
  return LocalVerdict::kReply;
}

void Sma::OnLinkStateChange(NodeId) {}
void Sma::OnLocalChange(PortId, LocalChange) {}
void Sma::OnBadPKey(PortId, const BadKey&) {}
void Sma::OnBadQKey(PortId, const BadKey&) {}
void Sma::OnSwitchBadPKey(PortId, const BadKey&) {}

}  // namespace ibemu::fabric
