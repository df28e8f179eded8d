#include "fabric/sa/registered_services.h"

#include <algorithm>
#include <optional>

#include "fabric/sa/partitions.h"
#include "mad/wire/sa_component_mask.h"

namespace ibemu::fabric {
namespace {

using mad::kComponentBit, mad::MadStatus, mad::ServiceRecord;

constexpr uint32_t kForEver = 0xffffffff;

void Conceal(const SaRequest& request, ServiceRecord& record) {
  if (!request.trusted) record.service_key = {};
}

}  // namespace

void RegisteredServices::DropExpired() {
  const absl::Time now = timers_.Now();
  services_.remove_if(
      [&](const Service& service) { return service.end <= now; });
}

std::list<RegisteredServices::Service>::iterator RegisteredServices::FindSame(
    const ServiceRecord& record) {
  return std::find_if(
      services_.begin(), services_.end(), [&](const Service& service) {
        return service.record.service_id == record.service_id &&
               service.record.service_gid == record.service_gid &&
               service.record.service_p_key == record.service_p_key;
      });
}

// Returns true if the P_Key is one of the requester and of the port that offers
// the service.
bool RegisteredServices::MayOffer(const SaRequest& request,
                                  const ServiceRecord& record) const {
  if (!request.Has(kComponentBit<&ServiceRecord::service_p_key>)) return true;
  const Subnet& subnet = directory_.subnet();
  if (!IsInPartition(subnet.port(request.requester), record.service_p_key)) {
    return false;
  }
  if (!request.Has(kComponentBit<&ServiceRecord::service_gid>) ||
      wire::IsMulticast(record.service_gid)) {
    return true;
  }
  const std::optional<PortId> port =
      directory_.FindGuid(record.service_gid.interface_id);
  return port && IsInPartition(subnet.port(*port), record.service_p_key);
}

MadStatus RegisteredServices::Register(const SaRequest& request,
                                       ServiceRecord& record) {
  DropExpired();
  record = request.Record<ServiceRecord>();
  if (!MayOffer(request, record) ||
      !request.Has(kComponentBit<&ServiceRecord::service_id> |
                   kComponentBit<&ServiceRecord::service_gid>)) {
    return MadStatus::kSaRequestInvalid;
  }
  if (!request.Has(kComponentBit<&ServiceRecord::service_lease>)) {
    record.service_lease = kForEver;
  }
  auto service = FindSame(record);
  if (service == services_.end()) {
    if (services_.size() >= kMax) return MadStatus::kSaNoResources;
    service = services_.emplace(services_.end());
  }
  service->record = record;
  service->end =
      record.service_lease == kForEver
          ? absl::InfiniteFuture()
          : timers_.Now() + absl::Seconds(int64_t{record.service_lease});
  if (!request.Has(kComponentBit<&ServiceRecord::service_p_key>)) {
    record.service_p_key = kDefaultPKey;
  }
  Conceal(request, record);
  return MadStatus::kOk;
}

MadStatus RegisteredServices::Remove(const SaRequest& request,
                                     ServiceRecord& record) {
  DropExpired();
  record = request.Record<ServiceRecord>();
  if (!MayOffer(request, record)) return MadStatus::kSaRequestInvalid;
  const auto service = FindSame(record);
  if (service == services_.end()) return MadStatus::kSaNoRecords;
  record = service->record;
  services_.erase(service);
  Conceal(request, record);
  return MadStatus::kOk;
}

void RegisteredServices::Find(const SaRequest& request, SaRecords& records) {
  DropExpired();
  const auto wanted = request.Record<ServiceRecord>();
  const NodePort& requester = directory_.subnet().port(request.requester);
  // As in opensm, records match whatever their lease is.
  const uint64_t mask = request.header.component_mask &
                        ~kComponentBit<&ServiceRecord::service_lease>;
  for (const Service& service : services_) {
    if (!mad::MatchesComponents(wanted, service.record, mask)) continue;
    const uint16_t p_key = service.record.service_p_key;
    if ((p_key & 0x7fff) != 0 && !IsInPartition(requester, p_key)) continue;
    ServiceRecord record = service.record;
    Conceal(request, record);
    records.Add(record);
  }
}

}  // namespace ibemu::fabric
