#include "fabric/sa/group_parameters.h"

#include <algorithm>

#include "fabric/routing/path_rate.h"
#include "fabric/sa/partitions.h"
#include "mad/wire/sa_component_mask.h"

namespace ibemu::fabric {
namespace {

using wire::Gid, mad::kComponentBit, mad::McMemberRecord, mad::Selector;

constexpr uint64_t kGroupMtuBits = kComponentBit<&McMemberRecord::mtu> |
                                   kComponentBit<&McMemberRecord::mtu_selector>;
constexpr uint64_t kGroupRateBits =
    kComponentBit<&McMemberRecord::rate> |
    kComponentBit<&McMemberRecord::rate_selector>;

constexpr uint64_t kIpv4 = 0x401b, kIpv6 = 0x601b, kAssigned = 0xa01b;
constexpr uint64_t kLinkLocal = 2;

uint64_t SignatureOf(const Gid& mgid) { return mgid.prefix >> 32 & 0xffff; }
uint64_t ScopeOf(const Gid& mgid) { return mgid.prefix >> 48 & 15; }

// Returns true if a value of the group meets a request.  `order`: the group's
// value compared with the wanted one.
bool Fits(Selector selector, int order) {
  switch (selector) {
    case Selector::kGreaterThan:
      return order > 0;
    case Selector::kLessThan:
      return order < 0;
    case Selector::kExactly:
      return order == 0;
    default:
      return true;
  }
}

}  // namespace

McMemberRecord IpoibBroadcastGroup() {
  McMemberRecord group;
  group.mgid = {.prefix = 0xff12'401b'ffff'0000, .interface_id = 0xffff'ffff};
  group.q_key = 0xb1b;
  group.mlid = wire::Lid::kFirstMulticast;
  group.mtu = 4;   // 2048 bytes
  group.rate = 3;  // 10 Gb/s
  group.packet_life_time = kPacketLifeTime;
  group.mtu_selector = group.rate_selector = group.packet_life_time_selector =
      Selector::kExactly;
  group.p_key = kDefaultPKey;
  group.scope = kLinkLocal;
  group.join_state = mad::kFullMember;
  return group;
}

std::optional<Gid> BroadcastMgidOf(const Gid& mgid) {
  constexpr uint64_t kScopeAndPKey = 0x000f'0000'ffff'0000;
  const uint64_t signature = SignatureOf(mgid);
  if (!wire::IsMulticast(mgid) || (signature != kIpv4 && signature != kIpv6)) {
    return std::nullopt;
  }
  return Gid{.prefix = 0xff10'401b'0000'0000 | (mgid.prefix & kScopeAndPKey),
             .interface_id = 0xffff'ffff};
}

bool IsMgidValid(const Gid& mgid) {
  if (!wire::IsMulticast(mgid)) return false;
  if (BroadcastMgidOf(mgid)) return true;
  constexpr uint64_t kReservedFlags = 0x00e0'0000'0000'0000;
  if ((mgid.prefix & kReservedFlags) != 0) return false;
  return SignatureOf(mgid) != kAssigned || ScopeOf(mgid) != kLinkLocal;
}

bool AreGroupCodesValid(const SaRequest& request,
                        const McMemberRecord& wanted) {
  if (request.Has(kGroupMtuBits) && !IsPathMtu(wanted.mtu)) return false;
  if (request.Has(kGroupRateBits) && !IsPathRate(wanted.rate)) return false;
  return !request.Has(kComponentBit<&McMemberRecord::p_key>) ||
         (wanted.p_key & 0x7fff) != 0;
}

bool FitsGroup(const SaRequest& request, const McMemberRecord& wanted,
               const McMemberRecord& group) {
  constexpr uint64_t kEqual = kComponentBit<&McMemberRecord::q_key> |
                              kComponentBit<&McMemberRecord::traffic_class> |
                              kComponentBit<&McMemberRecord::sl> |
                              kComponentBit<&McMemberRecord::flow_label> |
                              kComponentBit<&McMemberRecord::hop_limit>;
  if (!mad::MatchesComponents(wanted, group,
                              request.header.component_mask & kEqual)) {
    return false;
  }
  if (request.Has(kComponentBit<&McMemberRecord::p_key>) &&
      !wire::MayTalk(wanted.p_key, group.p_key)) {
    return false;
  }
  if (request.Has(kGroupMtuBits) &&
      !Fits(wanted.mtu_selector, int{group.mtu} - int{wanted.mtu})) {
    return false;
  }
  return !request.Has(kGroupRateBits) ||
         Fits(wanted.rate_selector, ComparePathRates(group.rate, wanted.rate));
}

bool MatchesGroup(const SaRequest& request, const McMemberRecord& wanted,
                  const McMemberRecord& group) {
  constexpr uint64_t kEqual = kComponentBit<&McMemberRecord::mgid> |
                              kComponentBit<&McMemberRecord::mlid> |
                              kComponentBit<&McMemberRecord::scope>;
  return mad::MatchesComponents(wanted, group,
                                request.header.component_mask & kEqual) &&
         FitsGroup(request, wanted, group);
}

bool CompleteGroup(const SaRequest& request, const NodePort& creator,
                   McMemberRecord& group) {
  const uint8_t port_mtu = creator.info.neighbor_mtu;
  if (!request.Has(kGroupMtuBits) || group.mtu_selector == Selector::kLargest) {
    group.mtu = port_mtu;
  } else if (group.mtu_selector == Selector::kGreaterThan) {
    if (group.mtu >= port_mtu) return false;
    group.mtu = port_mtu;
  } else if (group.mtu_selector == Selector::kLessThan) {
    group.mtu = std::min(port_mtu, static_cast<uint8_t>(group.mtu - 1));
  }
  const uint8_t port_rate = PathRateWithin(LinkBandwidth(creator.info));
  if (!request.Has(kGroupRateBits) ||
      group.rate_selector == Selector::kLargest) {
    group.rate = port_rate;
  } else if (group.rate_selector == Selector::kGreaterThan) {
    if (ComparePathRates(group.rate, port_rate) >= 0) return false;
    group.rate = port_rate;
  } else if (group.rate_selector == Selector::kLessThan) {
    group.rate = ComparePathRates(group.rate, port_rate) > 0
                     ? port_rate
                     : SlowerPathRate(group.rate);
  }
  if (!IsPathMtu(group.mtu) || !IsPathRate(group.rate)) return false;
  if (!request.Has(kComponentBit<&McMemberRecord::packet_life_time>)) {
    group.packet_life_time = kPacketLifeTime;
  }
  group.mtu_selector = group.rate_selector = group.packet_life_time_selector =
      Selector::kExactly;
  if (!request.Has(kComponentBit<&McMemberRecord::hop_limit>))
    group.hop_limit = 0;
  group.scope = static_cast<uint8_t>(ScopeOf(group.mgid));
  return true;
}

bool CanCarry(const NodePort& port, const McMemberRecord& group) {
  const uint8_t rate = PathRateWithin(LinkBandwidth(port.info));
  return port.info.neighbor_mtu >= group.mtu &&
         ComparePathRates(rate, group.rate) >= 0;
}

bool MayModify(const Subnet& subnet, PortId requester, PortId member,
               bool proxy, const McMemberRecord& group) {
  return proxy ? IsInPartition(subnet.port(requester), group.p_key)
               : requester == member;
}

}  // namespace ibemu::fabric
