#include "fabric/sa/subscriptions.h"

#include <algorithm>
#include <optional>

#include "fabric/sa/partitions.h"
#include "mad/wire/sa_component_mask.h"

namespace ibemu::fabric {
namespace {

using mad::InformInfo, mad::InformInfoRecord, wire::Lid, mad::MadStatus,
    mad::Notice;

constexpr uint16_t kAll = 0xffff;
constexpr uint32_t kAllProducers = 0xffffff;

// Returns true if a subscription covers a notice (table 120).
bool IsFor(const InformInfo& info, const mad::SaNotice& sa_notice) {
  const Notice& notice = sa_notice.notice;
  if (info.gid != wire::Gid{}) {
    if (info.gid != sa_notice.issuer_gid) return false;
  } else if (info.lid_range_begin != Lid::kPermissive) {
    const Lid last = std::max(info.lid_range_begin, info.lid_range_end);
    if (notice.issuer_lid < info.lid_range_begin || notice.issuer_lid > last) {
      return false;
    }
  }
  if ((info.is_generic != 0) != notice.is_generic) return false;
  if (info.type != kAll && info.type != static_cast<uint16_t>(notice.type)) {
    return false;
  }
  if (info.trap_number != kAll &&
      info.trap_number != static_cast<uint16_t>(notice.trap_number)) {
    return false;
  }
  return info.producer_type == kAllProducers ||
         info.producer_type == notice.producer_type;
}

bool IsSame(InformInfo a, InformInfo b) {
  a.subscribe = b.subscribe = 0;
  a.qpn = b.qpn = 0;
  return a == b;
}

}  // namespace

MadStatus Subscriptions::Set(const SaRequest& request, InformInfo& info) {
  info = request.Record<InformInfo>();
  if (info.subscribe > 1) return MadStatus::kSaRequestInvalid;
  const auto same = [&](const Subscription& subscription) {
    const bool same_queue_pair =
        subscription.info.qpn == request.from.qpn ||
        (info.subscribe == 0 && subscription.info.qpn == info.qpn);
    return subscription.port == request.requester && same_queue_pair &&
           IsSame(subscription.info, info);
  };
  if (info.subscribe == 0) {
    return all_.remove_if(same) > 0 ? MadStatus::kOk
                                    : MadStatus::kSaRequestInvalid;
  }
  if (!MayHear(request, info)) {
    info.subscribe = 0;
    return MadStatus::kSaRequestInvalid;
  }
  auto place = std::find_if(all_.begin(), all_.end(), same);
  if (place == all_.end()) {
    if (all_.size() >= kMax) {
      info.subscribe = 0;
      return MadStatus::kSaNoResources;
    }
    place = all_.emplace(all_.end());
  }
  *place = {.port = request.requester,
            .address = request.from,
            .gid = directory_.GidOf(request.requester),
            .info = info};
  place->info.qpn = request.from.qpn;
  return MadStatus::kOk;
}

// Returns true if the requester may subscribe.  Key violation traps are only
// for trusted requesters (C15-0.2-1.16).  Ports in other partitions are not
// reported (o13-14.1.1).
bool Subscriptions::MayHear(const SaRequest& request,
                            const InformInfo& info) const {
  constexpr auto kFirst = static_cast<uint16_t>(mad::TrapNumber::kBadMKey);
  constexpr auto kLast =
      static_cast<uint16_t>(mad::TrapNumber::kBadPKeyAtSwitchPort);
  if (!request.trusted && info.is_generic != 0 && info.trap_number >= kFirst &&
      info.trap_number <= kLast) {
    return false;
  }
  const Subnet& subnet = directory_.subnet();
  const auto reaches = [&](PortId port) {
    return ShareAPKey(subnet.port(port), subnet.port(request.requester));
  };
  if (info.gid != wire::Gid{}) {
    const std::optional<PortId> port = directory_.FindGid(info.gid);
    return port && reaches(*port);
  }
  if (info.lid_range_begin == Lid::kPermissive) return true;
  if (info.lid_range_begin > Lid::kLastUnicast) return false;
  const Lid last = std::max(info.lid_range_begin, info.lid_range_end);
  return std::all_of(directory_.end_ports().begin(),
                     directory_.end_ports().end(), [&](PortId port) {
                       const Lid lid = directory_.LidOf(port);
                       return lid < info.lid_range_begin || lid > last ||
                              reaches(port);
                     });
}

void Subscriptions::Find(const SaRequest& request, SaRecords& records) const {
  const auto wanted = request.Record<InformInfoRecord>();
  const NodePort& requester = directory_.subnet().port(request.requester);
  for (const Subscription& subscription : all_) {
    if (!ShareAPKey(requester, directory_.subnet().port(subscription.port))) {
      continue;
    }
    InformInfoRecord record{.subscriber_gid = subscription.gid,
                            .inform_info = subscription.info};
    if (!request.trusted) record.inform_info.qpn = 0;
    if (mad::MatchesComponents(wanted, record, request.header.component_mask)) {
      records.Add(record);
    }
  }
}

void Subscriptions::ForEachInterested(
    const mad::SaNotice& notice, PortId source,
    const std::function<void(const mad::AddressVector&)>& report) const {
  const Subnet& subnet = directory_.subnet();
  for (const Subscription& subscription : all_) {
    if (!IsFor(subscription.info, notice)) continue;
    if (source != kNoPort &&
        !ShareAPKey(subnet.port(source), subnet.port(subscription.port))) {
      continue;
    }
    report(subscription.address);
  }
}

void Subscriptions::RemovePort(PortId port) {
  all_.remove_if([port](const Subscription& subscription) {
    return subscription.port == port;
  });
}

}  // namespace ibemu::fabric
