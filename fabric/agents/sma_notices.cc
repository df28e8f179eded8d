#include "fabric/agents/sma_notices.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "mad/wire/mad_header.h"
#include "mad/wire/smp.h"

namespace ibemu::fabric {

using mad::NoticeType, mad::Smp, mad::TrapNumber;

namespace {

// The largest value stays.
void CountViolations(uint32_t packets, uint16_t& counter) {
  constexpr uint32_t kMax = std::numeric_limits<uint16_t>::max();
  counter = static_cast<uint16_t>(counter + std::min(packets, kMax - counter));
}

}  // namespace

void SmaNotices::OnBadMKey(PortId port, const mad::Arrival& request) {
  const auto smp = wire::Decode<Smp>(request.mad);
  mad::BadMKeyDetails details;
  details.lid = request.slid;
  details.method = smp.method;
  details.attr_id = smp.attr_id;
  details.attr_mod = smp.attr_mod;
  details.m_key = smp.m_key;
  if (smp.mgmt_class == mad::MgmtClass::kSubnetDirectedRoute) {
    auto& path = details.dr_notice_return_path;
    const size_t hops = std::min<size_t>(smp.hop_count, path.size());
    details.dr_slid = smp.dr_slid;
    details.dr_notice = true;
    details.dr_path_truncated = smp.hop_count > path.size();
    details.dr_hop_count = static_cast<uint8_t>(hops);
    std::copy_n(smp.return_path.begin(), hops, path.begin());
  }
  traps_.Raise(port, TrapNumber::kBadMKey, NoticeType::kSecurity, details);
}

void SmaNotices::OnLinkStateChange(topology::NodeId id) {
  const Node& node = subnet_.node(id);
  assert(node.is_switch());
  traps_.Raise(
      node.first_port, TrapNumber::kLinkStateChange, NoticeType::kUrgent,
      mad::LinkStateDetails{.lid = subnet_.port(node.first_port).info.lid});
}

void SmaNotices::OnLocalChange(PortId id, LocalChange change) {
  const mad::PortInfo& info = subnet_.port(id).info;
  mad::LocalChangeDetails details;
  details.lid = info.lid;
  details.capability_mask = info.capability_mask;
  details.capability_mask2 = info.capability_mask2;
  if (change == LocalChange::kNodeDescription) {
    details.other_local_changes = true;
    details.node_description_change = true;
  }
  traps_.Raise(id, TrapNumber::kLocalChange, NoticeType::kInformational,
               details);
}

void SmaNotices::OnBadKey(PortId port, const mad::BadKey& bad) {
  mad::PortInfo& info = subnet_.port(port).info;
  CountViolations(bad.packets, bad.trap == TrapNumber::kBadQKey
                                   ? info.q_key_violations
                                   : info.p_key_violations);
  traps_.Raise(port, bad.trap, NoticeType::kSecurity, bad.details);
}

void SmaNotices::OnSwitchBadPKey(PortId id, const mad::BadKeyDetails& packet) {
  NodePort& port = subnet_.port(id);
  CountViolations(1, port.info.p_key_violations);
  const PortId end_port = subnet_.management_port(id);
  mad::BadPKeyAtSwitchDetails details;
  details.data_valid = mad::kDataValidLid1 | mad::kDataValidLid2 |
                       mad::kDataValidPKey | mad::kDataValidSl |
                       mad::kDataValidQp1 | mad::kDataValidQp2;
  if (packet.gid1 != wire::Gid{} || packet.gid2 != wire::Gid{}) {
    details.data_valid |= mad::kDataValidGid1 | mad::kDataValidGid2;
  }
  details.lid1 = packet.lid1;
  details.lid2 = packet.lid2;
  details.p_key = static_cast<uint16_t>(packet.key);
  details.sl = packet.sl;
  details.qp1 = packet.qp1;
  details.qp2 = packet.qp2;
  details.gid1 = packet.gid1;
  details.gid2 = packet.gid2;
  details.switch_lid = subnet_.port(end_port).info.lid;
  details.port_num = port.number;
  traps_.Raise(end_port, TrapNumber::kBadPKeyAtSwitchPort,
               NoticeType::kSecurity, details);
}

}  // namespace ibemu::fabric
