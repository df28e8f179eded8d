// RegisteredServices: the table of registered services (ServiceRecord), IBA vol
// 1 §15.2.5.14.
#ifndef IBEMU_FABRIC_SA_REGISTERED_SERVICES_H_
#define IBEMU_FABRIC_SA_REGISTERED_SERVICES_H_

#include <list>

#include "absl/time/time.h"
#include "base/timers.h"
#include "fabric/sa/directory.h"
#include "fabric/sa/sa_request.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/sa_services.h"

namespace ibemu::fabric {

// The service records.  The key of a record is its ServiceID, ServiceGID and
// ServiceP_Key.  It is deleted when its lease runs out.
class RegisteredServices {
 public:
  static constexpr size_t kMax = 16384;

  RegisteredServices(const Directory& directory, Timers& timers)
      : directory_(directory), timers_(timers) {}

  // Set and Delete(ServiceRecord).  `record` receives the answer.
  mad::MadStatus Register(const SaRequest& request, mad::ServiceRecord& record);
  mad::MadStatus Remove(const SaRequest& request, mad::ServiceRecord& record);

  // Get and GetTable.
  void Find(const SaRequest& request, SaRecords& records);

  void Clear() { services_.clear(); }

 private:
  struct Service {
    mad::ServiceRecord record;
    absl::Time end = absl::InfiniteFuture();
  };

  void DropExpired();
  std::list<Service>::iterator FindSame(const mad::ServiceRecord& record);
  bool MayOffer(const SaRequest& request,
                const mad::ServiceRecord& record) const;

  const Directory& directory_;
  Timers& timers_;
  std::list<Service> services_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_REGISTERED_SERVICES_H_
