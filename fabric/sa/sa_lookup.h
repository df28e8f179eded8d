// SaLookup: the records of subnet administration, by attribute.
#ifndef IBEMU_FABRIC_SA_SA_LOOKUP_H_
#define IBEMU_FABRIC_SA_SA_LOOKUP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "fabric/sa/directory.h"
#include "fabric/sa/multicast_groups.h"
#include "fabric/sa/registered_services.h"
#include "fabric/sa/sa_request.h"
#include "fabric/sa/subscriptions.h"
#include "fabric/sm/subnet_observer.h"
#include "mad/wire/sa.h"

namespace ibemu::fabric {

// The way from a query to the part of the administration that has its records.
class SaLookup {
 public:
  // Returns the known managers of the subnet.
  using Managers = std::function<std::vector<SmIdentity>()>;

  // The references must outlive this object.
  SaLookup(const Directory& directory, const MulticastGroups& groups,
           RegisteredServices& services, const Subscriptions& subscriptions,
           Managers managers)
      : directory_(directory),
        groups_(groups),
        services_(services),
        subscriptions_(subscriptions),
        managers_(std::move(managers)) {}

  // Checks a query before records are read.  Returns the status of the answer
  // to an invalid one, or kOk.
  mad::MadStatus Check(const SaRequest& request) const;

  // Returns the size of the records that answer a query, in units of 8 bytes.
  static uint16_t AttributeOffset(const mad::SaHeader& query);

  // Finds records that need no time.  Returns false for other attributes.
  // REQUIRES: the check returned kOk; so for SourceFor().
  bool FindAtOnce(const SaRequest& request, SaRecords& records) const;

  // Returns the source of records that are found in steps; null if there is no
  // such attribute.
  std::unique_ptr<RecordSource> SourceFor(const SaRequest& request) const;

 private:
  void AddClassPortInfo(SaRecords& records) const;
  void AddManagers(const SaRequest& request, SaRecords& records) const;

  const Directory& directory_;
  const MulticastGroups& groups_;
  RegisteredServices& services_;  // whose expired records are dropped by a look
  const Subscriptions& subscriptions_;
  const Managers managers_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_SA_LOOKUP_H_
