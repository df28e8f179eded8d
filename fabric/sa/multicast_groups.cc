#include "fabric/sa/multicast_groups.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "fabric/sa/group_parameters.h"
#include "fabric/sa/partitions.h"
#include "mad/wire/sa_component_mask.h"
#include "mad/wire/sa_paths.h"

namespace ibemu::fabric {
namespace {

using wire::Gid, mad::kComponentBit, wire::Lid, mad::MadStatus,
    mad::McMemberRecord;

constexpr uint8_t kFull = mad::kFullMember | mad::kSendOnlyFullMember;
constexpr uint8_t kReceives = mad::kFullMember | mad::kNonMember;
// The components that each request to join or leave has to have.
constexpr uint64_t kOfMembership = kComponentBit<&McMemberRecord::mgid> |
                                   kComponentBit<&McMemberRecord::port_gid> |
                                   kComponentBit<&McMemberRecord::join_state>;
// The delay of routing, so that it is done once for all members that join
// meanwhile.
constexpr absl::Duration kRouteDelay = absl::Milliseconds(1);
constexpr size_t kMaxGroups = 0x1000;  // a switch's MulticastFDBCap

}  // namespace

int MulticastGroups::Group::full_members() const {
  return static_cast<int>(
      std::count_if(members.begin(), members.end(), [](const auto& member) {
        return (member.second.join_state & kFull) != 0;
      }));
}

MulticastGroups::MulticastGroups(const Directory& directory,
                                 MulticastRoutes& routes, Timers& timers,
                                 Observer observer)
    : directory_(directory),
      routes_(routes),
      timers_(timers),
      observer_(std::move(observer)) {}

MulticastGroups::~MulticastGroups() { timers_.Cancel(route_timer_); }

void MulticastGroups::Begin() {
  const McMemberRecord broadcast = IpoibBroadcastGroup();
  groups_[{broadcast.mgid.prefix, broadcast.mgid.interface_id}] = {
      .parameters = broadcast, .well_known = true};
}

void MulticastGroups::Clear() {
  for (const auto& [mgid, group] : groups_) {
    to_route_.insert(group.parameters.mlid);
  }
  groups_.clear();
  Route();
}

const MulticastGroups::Group* MulticastGroups::Find(const Gid& mgid) const {
  const auto found = groups_.find({mgid.prefix, mgid.interface_id});
  return found == groups_.end() ? nullptr : &found->second;
}

bool MulticastGroups::IsMember(uint64_t guid) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const auto& group) {
    return group.second.members.contains(guid);
  });
}

bool MulticastGroups::MayTakePath(const SaRequest& request,
                                  const Group& group) const {
  const auto wanted = request.Record<mad::PathRecord>();
  if (request.Has(kComponentBit<&mad::PathRecord::sgid>) &&
      !group.members.contains(wanted.sgid.interface_id)) {
    return false;
  }
  return !request.Has(kComponentBit<&mad::PathRecord::slid>) ||
         std::any_of(group.members.begin(), group.members.end(),
                     [&](const auto& member) {
                       return directory_.subnet()
                           .port(member.second.port)
                           .Owns(wanted.slid);
                     });
}

MadStatus MulticastGroups::Join(const SaRequest& request,
                                McMemberRecord& record) {
  if (!request.Has(kOfMembership)) {
    return MadStatus::kSaInsufficientComponents;
  }
  record = request.Record<McMemberRecord>();
  const std::optional<PortId> found = directory_.FindGid(record.port_gid);
  if (!found) {
    return directory_.FindGuid(record.port_gid.interface_id)
               ? MadStatus::kSaInvalidGid
               : MadStatus::kSaRequestInvalid;
  }
  const Subnet& subnet = directory_.subnet();
  const NodePort& port = subnet.port(*found);
  const bool proxy = *found != request.requester;
  if ((proxy && !ShareAPKey(port, subnet.port(request.requester))) ||
      record.join_state == 0 || !AreGroupCodesValid(request, record)) {
    return MadStatus::kSaRequestInvalid;
  }

  auto group = groups_.find({record.mgid.prefix, record.mgid.interface_id});
  const bool is_new = group == groups_.end();
  if (is_new) {
    const MadStatus status = Create(request, *found, record, group);
    if (status != MadStatus::kOk) return status;
  }
  const McMemberRecord& parameters = group->second.parameters;
  auto& members = group->second.members;
  const uint64_t guid = record.port_gid.interface_id;
  const auto old = members.find(guid);
  const bool allowed = (is_new || FitsGroup(request, record, parameters)) &&
                       CanCarry(port, parameters) &&
                       IsInPartition(port, parameters.p_key) &&
                       (old == members.end() ||
                        MayModify(subnet, request.requester, old->second.port,
                                  old->second.proxy, parameters));
  if (!allowed) {
    if (is_new) groups_.erase(group);
    return MadStatus::kSaRequestInvalid;
  }

  const bool had_full = group->second.full_members() != 0;
  Member& member = members[guid];
  member.port = *found;
  member.gid = {.prefix = port.info.gid_prefix, .interface_id = guid};
  member.join_state |= record.join_state;
  if (old == members.end()) member.proxy = proxy;
  RouteSoon(parameters.mlid);
  if (!had_full && group->second.full_members() != 0) {
    observer_(parameters.mgid, true);
  }

  const Gid port_gid = record.port_gid;
  record = parameters;
  record.port_gid = port_gid;
  record.join_state = member.join_state;
  record.proxy_join = member.proxy;
  return MadStatus::kOk;
}

// Creates a group.  The requester has to specify its characteristics
// (o15-0.2.3).
MadStatus MulticastGroups::Create(const SaRequest& request, PortId port,
                                  McMemberRecord wanted,
                                  Groups::iterator& created) {
  if ((wanted.join_state & kFull) == 0) return MadStatus::kSaRequestInvalid;
  if (!request.Has(kComponentBit<&McMemberRecord::q_key> |
                   kComponentBit<&McMemberRecord::traffic_class> |
                   kComponentBit<&McMemberRecord::p_key> |
                   kComponentBit<&McMemberRecord::flow_label> |
                   kComponentBit<&McMemberRecord::sl>)) {
    return MadStatus::kSaInsufficientComponents;
  }
  if (wanted.mgid == Gid{}) {
    wanted.mgid = NewMgid(request, wanted);
  } else {
    if (!IsMgidValid(wanted.mgid)) return MadStatus::kSaRequestInvalid;
    if (const auto broadcast = BroadcastMgidOf(wanted.mgid);
        broadcast && *broadcast != wanted.mgid) {
      // An IPoIB group has the parameters of its partition's broadcast group.
      const Group* const like = Find(*broadcast);
      if (like == nullptr || !FitsGroup(request, wanted, like->parameters)) {
        return MadStatus::kSaRequestInvalid;
      }
    }
  }
  if (!CompleteGroup(request, directory_.subnet().port(port), wanted)) {
    return MadStatus::kSaRequestInvalid;
  }
  wanted.mlid = NewMlid(wanted.mlid);
  if (wanted.mlid == Lid::kUnassigned) return MadStatus::kSaNoResources;
  wanted.port_gid = {};
  wanted.proxy_join = false;
  created = groups_
                .try_emplace({wanted.mgid.prefix, wanted.mgid.interface_id},
                             Group{.parameters = wanted})
                .first;
  return MadStatus::kOk;
}

// Returns an unused MGID with the signature 0xa01b of those that an SA assigns.
Gid MulticastGroups::NewMgid(const SaRequest& request,
                             const McMemberRecord& wanted) {
  constexpr uint64_t kLinkLocal = 2, kTransient = 0xff10'a01b'0000'0000;
  const uint64_t scope = request.Has(kComponentBit<&McMemberRecord::scope>)
                             ? wanted.scope
                             : kLinkLocal;
  const uint64_t prefix = directory_.GidOf(request.requester).prefix;
  Gid mgid;
  do {
    mgid.prefix = kTransient | scope << 48 | prefix >> 32;
    mgid.interface_id = prefix << 32 | next_mgid_++;
  } while (Find(mgid) != nullptr);
  return mgid;
}

Lid MulticastGroups::NewMlid(Lid wanted) const {
  std::set<Lid> used;
  for (const auto& [mgid, group] : groups_) used.insert(group.parameters.mlid);
  const auto first = static_cast<unsigned>(Lid::kFirstMulticast);
  const auto as_wanted = static_cast<unsigned>(wanted);
  if (as_wanted >= first && as_wanted < first + kMaxGroups &&
      !used.contains(wanted)) {
    return wanted;
  }
  for (unsigned lid = first; lid < first + kMaxGroups; ++lid) {
    if (!used.contains(Lid(lid))) return Lid(lid);
  }
  return Lid::kUnassigned;
}

// The rules for leaving: o15-0.1.14.
MadStatus MulticastGroups::Leave(const SaRequest& request,
                                 McMemberRecord& record) {
  if (!request.Has(kOfMembership)) {
    return MadStatus::kSaInsufficientComponents;
  }
  record = request.Record<McMemberRecord>();
  const auto group =
      groups_.find({record.mgid.prefix, record.mgid.interface_id});
  if (group == groups_.end()) return MadStatus::kSaRequestInvalid;
  const uint64_t guid = record.port_gid.interface_id;
  const auto member = group->second.members.find(guid);
  if (member == group->second.members.end()) {
    return MadStatus::kSaRequestInvalid;
  }
  const uint8_t had = member->second.join_state;
  if (record.join_state == 0 || (record.join_state & ~had) != 0 ||
      !MayModify(directory_.subnet(), request.requester, member->second.port,
                 member->second.proxy, group->second.parameters)) {
    return MadStatus::kSaRequestInvalid;
  }
  const Gid port_gid = record.port_gid;
  const bool proxy = member->second.proxy;
  const uint8_t left = had & ~record.join_state;
  record = group->second.parameters;
  record.port_gid = port_gid;
  record.join_state = left;
  record.proxy_join = proxy;
  Remove(group, guid, left);
  return MadStatus::kOk;
}

void MulticastGroups::Remove(Groups::iterator group, uint64_t guid,
                             uint8_t join_state) {
  auto& members = group->second.members;
  const bool had_full = group->second.full_members() != 0;
  RouteSoon(group->second.parameters.mlid);
  if (join_state != 0) {
    members.at(guid).join_state = join_state;
  } else {
    members.erase(guid);
  }
  if (group->second.full_members() != 0) return;
  // A group ends with its last full member.
  const Gid mgid = group->second.parameters.mgid;
  members.clear();
  if (had_full) observer_(mgid, false);
  if (!group->second.well_known) groups_.erase(group);
}

void MulticastGroups::RemovePort(PortId port) {
  for (auto group = groups_.begin(); group != groups_.end();) {
    const auto here = group++;
    const Key mgid = here->first;
    std::vector<uint64_t> guids;
    for (const auto& [guid, member] : here->second.members) {
      if (member.port == port) guids.push_back(guid);
    }
    for (const uint64_t guid : guids) {
      // The group may have ended with its last full member.
      if (!groups_.contains(mgid)) break;
      if (here->second.members.contains(guid)) Remove(here, guid, 0);
    }
  }
}

void MulticastGroups::Find(const SaRequest& request, SaRecords& records) const {
  const auto wanted = request.Record<McMemberRecord>();
  const NodePort& requester = directory_.subnet().port(request.requester);
  const bool by_port = request.Has(kComponentBit<&McMemberRecord::port_gid>);
  constexpr uint64_t kOfMembers = kComponentBit<&McMemberRecord::join_state> |
                                  kComponentBit<&McMemberRecord::proxy_join>;
  const auto fits = [&](const Member& member) {
    if (by_port && member.gid.interface_id != wanted.port_gid.interface_id) {
      return false;
    }
    return mad::MatchesComponents(
        wanted,
        McMemberRecord{.join_state = member.join_state,
                       .proxy_join = member.proxy},
        request.header.component_mask & kOfMembers);
  };
  for (const auto& [mgid, group] : groups_) {
    if (!MatchesGroup(request, wanted, group.parameters) ||
        !IsInPartition(requester, group.parameters.p_key)) {
      continue;
    }
    if (!request.trusted) {
      const bool any =
          !by_port ||
          std::any_of(group.members.begin(), group.members.end(),
                      [&](const auto& m) { return fits(m.second); });
      if (!any) continue;
      McMemberRecord record = group.parameters;
      record.join_state = 0;
      records.Add(record);
      continue;
    }
    for (const auto& [guid, member] : group.members) {
      if (!fits(member)) continue;
      McMemberRecord record = group.parameters;
      record.port_gid = member.gid;
      record.join_state = member.join_state;
      record.proxy_join = member.proxy;
      records.Add(record);
    }
  }
}

void MulticastGroups::RouteSoon(Lid mlid) {
  to_route_.insert(mlid);
  if (route_timer_ != TimerId::kNone) return;
  route_timer_ = timers_.RunAfter(kRouteDelay, [this] { Route(); });
}

void MulticastGroups::Route() {
  timers_.Cancel(route_timer_);
  route_timer_ = TimerId::kNone;
  const std::set<Lid> lids = std::exchange(to_route_, {});
  std::map<Lid, MlidMembers> members;
  for (const Lid lid : lids) members[lid];
  for (const auto& [mgid, group] : groups_) {
    const auto found = members.find(group.parameters.mlid);
    if (found == members.end()) continue;
    std::map<PortId, uint8_t> states;  // aliases share a port
    for (const auto& [guid, member] : group.members) {
      states[member.port] |= member.join_state;
    }
    for (const auto& [port, state] : states) {
      ((state & kReceives) != 0 ? found->second.receivers
                                : found->second.senders)
          .push_back(port);
    }
  }
  for (auto& [lid, of_lid] : members) {
    routes_.SetMembers(lid, std::move(of_lid));
  }
}

}  // namespace ibemu::fabric
