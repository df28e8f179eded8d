#include "fabric/agents/sma_port_info.h"

#include "mad/wire/port_info.h"

namespace ibemu::fabric {

using wire::Lid, mad::MadStatus, mad::PortInfo, mad::PortPhysicalState,
    mad::PortState;

namespace {

// The special codes of a component with enabled widths or speeds, which
// otherwise holds a mask.
struct EnabledCodes {
  uint8_t all_supported;
  uint8_t disabled;  // 0: there is no such code
};
constexpr EnabledCodes kWidthCodes = {mad::link_width::kAllSupported, 0};
constexpr EnabledCodes kSpeedCodes = {mad::link_speed::kAllSupported, 0};
constexpr EnabledCodes kExtCodes = {mad::link_speed_ext::kAllSupported,
                                    mad::link_speed_ext::kDisabled};
constexpr EnabledCodes kExt2Codes = {mad::link_speed_ext2::kAllSupported,
                                     mad::link_speed_ext2::kDisabled};

// Sets enabled widths or speeds.  Returns false if `wanted` is not a legal
// value.  Zero means "no change".
bool SetEnabled(uint8_t wanted, uint8_t supported, const EnabledCodes& codes,
                uint8_t& enabled) {
  if (wanted == 0 || wanted == enabled) return true;
  if (wanted == codes.all_supported) {
    enabled = supported;
    return true;
  }
  if (wanted == codes.disabled) {
    enabled = wanted;
    return true;
  }
  if ((wanted & ~supported) != 0) return false;
  enabled = wanted;
  return true;
}

// A Set can only clear the number of violations.
void ClearViolations(uint16_t wanted, uint16_t& violations) {
  if (wanted == 0) violations = 0;
}

bool IsLegalLid(const PortInfo& wanted) {
  const unsigned mask = (1u << wanted.lmc) - 1;
  const auto lid = static_cast<unsigned>(wanted.lid);
  return (lid & mask) == 0 && wire::IsUnicast(wanted.lid) &&
         wire::IsUnicast(Lid(lid + mask));
}

// Sets the components of end ports: CAs, routers, and port 0 of a switch.
bool SetEndPort(const PortInfo& asked, bool base_port_0, PortInfo& next) {
  PortInfo wanted = asked;
  if (base_port_0) wanted.lmc = 0;  // it has only one LID
  const bool moves = wanted.lid != next.lid || wanted.lmc != next.lmc;
  if (moves && !IsLegalLid(wanted)) return false;
  if (wanted.master_sm_lid != next.master_sm_lid &&
      !wire::IsUnicast(wanted.master_sm_lid)) {
    return false;
  }
  next.m_key = wanted.m_key;
  next.gid_prefix = wanted.gid_prefix;
  next.lid = wanted.lid;
  next.lmc = wanted.lmc;
  next.master_sm_lid = wanted.master_sm_lid;
  next.master_sm_sl = wanted.master_sm_sl;
  next.m_key_lease_period = wanted.m_key_lease_period;
  next.m_key_protect_bits = wanted.m_key_protect_bits;
  next.subnet_timeout = wanted.subnet_timeout;
  next.multicast_p_key_trap_suppression =
      wanted.multicast_p_key_trap_suppression;
  ClearViolations(wanted.m_key_violations, next.m_key_violations);
  ClearViolations(wanted.p_key_violations, next.p_key_violations);
  ClearViolations(wanted.q_key_violations, next.q_key_violations);
  return true;
}

// Sets the components of ports with a link.
bool SetLinkPort(const PortInfo& wanted, PortInfo& next) {
  if (!SetEnabled(wanted.link_width_enabled, next.link_width_supported,
                  kWidthCodes, next.link_width_enabled) ||
      !SetEnabled(wanted.link_speed_enabled, next.link_speed_supported,
                  kSpeedCodes, next.link_speed_enabled) ||
      !SetEnabled(wanted.link_speed_ext_enabled, next.link_speed_ext_supported,
                  kExtCodes, next.link_speed_ext_enabled) ||
      !SetEnabled(wanted.link_speed_ext_enabled2,
                  next.link_speed_ext_supported2, kExt2Codes,
                  next.link_speed_ext_enabled2)) {
    return false;
  }
  switch (wanted.link_down_default_state) {
    case PortPhysicalState::kNoChange:
      break;
    case PortPhysicalState::kSleep:
    case PortPhysicalState::kPolling:
      next.link_down_default_state = wanted.link_down_default_state;
      break;
    default:
      return false;
  }
  next.vl_stall_count = wanted.vl_stall_count;
  next.hoq_life = wanted.hoq_life;
  next.local_phy_errors = wanted.local_phy_errors;
  next.overrun_errors = wanted.overrun_errors;
  return true;
}

// Sets the components of all ports but a base port 0.
bool SetQueues(const PortInfo& wanted, PortInfo& next) {
  if (wanted.neighbor_mtu != next.neighbor_mtu &&
      (wanted.neighbor_mtu == 0 || wanted.neighbor_mtu > next.mtu_cap)) {
    return false;
  }
  if (wanted.operational_vls > next.vl_cap) return false;
  next.neighbor_mtu = wanted.neighbor_mtu;
  if (wanted.operational_vls != 0) {
    next.operational_vls = wanted.operational_vls;
  }
  next.vl_high_limit = wanted.vl_high_limit;
  next.init_type = wanted.init_type;
  return true;
}

// Checks the wanted logical and physical states against each other: a physical
// state may be chosen only if the link is down or goes down.
bool IsLegalCommand(const PortInfo& wanted) {
  switch (wanted.port_state) {
    case PortState::kNoChange:
    case PortState::kDown:
      return wanted.port_physical_state <= PortPhysicalState::kDisabled;
    case PortState::kArmed:
    case PortState::kActive:
      return wanted.port_physical_state == PortPhysicalState::kNoChange;
    default:
      return false;
  }
}

// Returns true if Links will accept the state.  It is checked before anything
// else changes.
bool MayGoTo(PortState wanted, const PortInfo& current) {
  switch (wanted) {
    case PortState::kArmed:
      return current.port_state == PortState::kInit ||
             current.port_state == PortState::kArmed;
    case PortState::kActive:
      return current.port_state == PortState::kArmed ||
             current.port_state == PortState::kActive;
    default:
      return true;
  }
}

void Command(const SmaRequest& request, PortId id, const PortInfo& wanted) {
  if (wanted.port_physical_state != PortPhysicalState::kNoChange) {
    request.links.SetPhysicalState(id, wanted.port_physical_state);
  } else {
    request.links.SetLogicalState(id, wanted.port_state);
  }
}

bool IsBasePort0(const Node& node, const NodePort& port) {
  return node.is_switch() && port.number == 0 && !node.sw->info.enhanced_port_0;
}

bool SetPortInfo(const SmaRequest& request, NodePort& port) {
  const auto wanted = request.Wanted<PortInfo>();
  const bool end_port = !request.node.is_switch() || port.number == 0;
  const bool base_port_0 = IsBasePort0(request.node, port);
  const bool has_link = port.number != 0;

  PortInfo next = port.info;
  if (end_port && !SetEndPort(wanted, base_port_0, next)) return false;
  if (has_link && !SetLinkPort(wanted, next)) return false;
  if (!base_port_0 && !SetQueues(wanted, next)) return false;
  if (request.node.is_switch() && has_link) {
    next.partition_enforcement_inbound = wanted.partition_enforcement_inbound;
    next.partition_enforcement_outbound = wanted.partition_enforcement_outbound;
    next.filter_raw_inbound = wanted.filter_raw_inbound;
    next.filter_raw_outbound = wanted.filter_raw_outbound;
    ClearViolations(wanted.p_key_violations, next.p_key_violations);
  }
  // A base port 0 is always ACTIVE, whatever is requested.
  if (!base_port_0) {
    if (!IsLegalCommand(wanted) || !MayGoTo(wanted.port_state, port.info)) {
      return false;
    }
    const bool down =
        wanted.port_state == PortState::kDown ||
        wanted.port_physical_state != PortPhysicalState::kNoChange;
    if (down && !has_link) return false;
  }

  const bool changed = next != port.info || wanted.client_reregister;
  port.info = next;
  const PortId id = request.subnet.id_of(port);
  if (!base_port_0) Command(request, id, wanted);
  if (changed && end_port) request.events.OnPortChange(id);
  if (wanted.client_reregister && end_port) {
    request.events.OnClientReregister(id);
  }
  return true;
}

}  // namespace

// The upper bits of the modifier say what the subnet manager supports (bit 31:
// extended speeds).  They are ignored: every answer has all components.
MadStatus SmaPortInfo(const SmaRequest& request) {
  const int number = static_cast<int>(request.modifier & 0xff);
  const bool own = number == 0;  // on a CA: the port that was asked
  if (!own && !request.subnet.has_port(request.node, number)) {
    return MadStatus::kInvalidField;
  }
  NodePort& port =
      own ? request.port
          : request.subnet.port(request.subnet.port_id(request.node, number));
  const bool reregister =
      request.set && request.Wanted<PortInfo>().client_reregister;
  const bool ok = !request.set || SetPortInfo(request, port);

  PortInfo answer = port.info;
  answer.local_port_num = request.ingress.number;
  answer.client_reregister = ok && reregister;
  if (!request.set && answer.m_key_protect_bits != 0 &&
      answer.m_key != request.m_key) {
    answer.m_key = 0;
  }
  return request.Answer(answer, ok ? MadStatus::kOk : MadStatus::kInvalidField);
}

}  // namespace ibemu::fabric
