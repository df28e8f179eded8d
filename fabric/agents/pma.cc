#include "fabric/agents/pma.h"

#include <memory>

#include "fabric/agents/pma_port.h"
#include "mad/wire/class_port_info.h"
#include "mad/wire/port_counters.h"
#include "mad/wire/port_samples.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::LocalVerdict, mad::MadHeader, mad::MadStatus,
    mad::Method, mad::PortSamplesControl;

// Bits of ClassPortInfo's CapabilityMask and CapabilityMask2, §16.1.3.1.
constexpr uint16_t kAllPortSelect = 1 << 8;
constexpr uint16_t kExtendedWidth = 1 << 9;
constexpr uint16_t kXmitWait = 1 << 12;
constexpr uint16_t kQp1Drop = 1 << 15;
constexpr uint32_t kAdditionalExtendedCounters = 1 << 1;
constexpr uint8_t kResponseTime = 18;  // 1.07 s, as in Linux's drivers

constexpr uint8_t kClassVersion = 1;

mad::ClassPortInfo PerformanceClass() {
  mad::ClassPortInfo info;
  info.class_version = kClassVersion;
  info.capability_mask = kAllPortSelect | kExtendedWidth | kXmitWait | kQp1Drop;
  info.capability_mask2 = kAdditionalExtendedCounters;
  info.resp_time_value = kResponseTime;
  return info;
}

bool IsSamples(AttributeId attribute) {
  return attribute == AttributeId::kPortSamplesControl ||
         attribute == AttributeId::kPortSamplesResult ||
         attribute == AttributeId::kPortSamplesResultExtended;
}

}  // namespace

LocalVerdict Pma::Handle(PortId port, const mad::Arrival& request,
                         mad::MadBytes& reply) {
  const auto header = wire::Decode<MadHeader>(request.mad);
  if (header.method != Method::kGet && header.method != Method::kSet) {
    return LocalVerdict::kUnhandled;
  }
  reply = request.mad;
  const MadStatus status =
      Answer(port, header, std::span(reply).subspan(mad::kPerfDataOffset));
  wire::Put<&MadHeader::method>(reply, Method::kGetResp);
  wire::Put<&MadHeader::status>(reply, status);
  return LocalVerdict::kReply;
}

MadStatus Pma::Answer(PortId port, const MadHeader& header,
                      std::span<std::byte> data) {
  if (header.class_version != kClassVersion) {
    return MadStatus::kUnsupportedVersion;
  }
  if (IsSamples(header.attr_id)) return AnswerSamples(port, header, data);
  const bool set = header.method == Method::kSet;
  if (header.attr_id == AttributeId::kClassPortInfo) {
    if (set) return MadStatus::kUnsupportedAttribute;
    wire::Encode(PerformanceClass(), data);
    return MadStatus::kOk;
  }
  // PortSelect is at the same place in every attribute.
  const auto selection =
      Select(port, wire::Get<&mad::PortCounters::port_select>(data));
  if (!selection || header.attr_mod != 0) return MadStatus::kInvalidField;
  return HandleCounters(*selection, header.attr_id, set, data);
}

MadStatus Pma::AnswerSamples(PortId id, const MadHeader& header,
                             std::span<std::byte> data) {
  // The attribute modifier selects a sampling mechanism; there is only one.
  if (header.attr_mod != 0) return MadStatus::kInvalidField;
  NodePort& port = subnet_.port(id);
  PmaPort& pma = PmaOf(port);
  if (!pma.sampler) {
    pma.sampler = std::make_shared<PmaSampler>(subnet_, timers_);
  }
  const bool set = header.method == Method::kSet;
  if (header.attr_id == AttributeId::kPortSamplesControl) {
    const auto wanted = wire::Decode<PortSamplesControl>(data);
    const auto selection = Select(id, wanted.port_select);
    if (!selection || selection->ports.size() != 1) {
      return MadStatus::kInvalidField;
    }
    if (set) {
      pma.sampler->Start(subnet_.id_of(selection->ports.front()), wanted);
    }
    wire::Encode(pma.sampler->Control(wanted.port_select), data);
    return MadStatus::kOk;
  }
  if (set) return MadStatus::kUnsupportedAttribute;
  if (header.attr_id == AttributeId::kPortSamplesResult) {
    wire::Encode(pma.sampler->Result(), data);
  } else {
    wire::Encode(pma.sampler->ResultExtended(), data);
  }
  return MadStatus::kOk;
}

std::optional<PmaSelection> Pma::Select(PortId id, uint8_t port_select) {
  const Node& node = subnet_.NodeOf(id);
  PmaSelection selection;
  selection.is_switch = node.is_switch();
  if (port_select == mad::kAllPorts) {
    selection.ports = subnet_.PortsOf(node);
    // Port 0 is included only if it is an enhanced one.
    if (node.is_switch() && !node.sw->info.enhanced_port_0) {
      selection.ports = selection.ports.subspan(1);
    }
    if (selection.ports.empty()) return std::nullopt;
    return selection;
  }
  const bool asked = port_select == 0 && !node.is_switch();
  if (!asked && !subnet_.has_port(node, port_select)) return std::nullopt;
  const PortId selected = asked ? id : subnet_.port_id(node, port_select);
  selection.ports = {&subnet_.port(selected), 1};
  return selection;
}

}  // namespace ibemu::fabric
