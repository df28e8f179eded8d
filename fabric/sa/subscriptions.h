// Subscriptions: subscriptions to notices, InformInfo, IBA vol 1 §13.4.8.3 and
// §13.4.11.
#ifndef IBEMU_FABRIC_SA_SUBSCRIPTIONS_H_
#define IBEMU_FABRIC_SA_SUBSCRIPTIONS_H_

#include <functional>
#include <list>

#include "fabric/sa/directory.h"
#include "fabric/sa/sa_request.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/notice.h"
#include "mad/wire/sa_services.h"

namespace ibemu::fabric {

// The list of subscriptions.
class Subscriptions {
 public:
  static constexpr size_t kMax = 65536;

  explicit Subscriptions(const Directory& directory) : directory_(directory) {}

  // Set(InformInfo): subscribes or unsubscribes.  `info` receives the answer.
  mad::MadStatus Set(const SaRequest& request, mad::InformInfo& info);

  // Get and GetTable(InformInfoRecord).
  void Find(const SaRequest& request, SaRecords& records) const;

  // Calls report(address) for each subscriber to the notice.  `source`: the
  // port whose partitions the subscriber must share; kNoPort: any subscriber.
  void ForEachInterested(
      const mad::SaNotice& notice, PortId source,
      const std::function<void(const mad::AddressVector&)>& report) const;

  void RemovePort(PortId port);
  void Clear() { all_.clear(); }

 private:
  struct Subscription {
    PortId port = kNoPort;
    mad::AddressVector address{};
    wire::Gid gid{};
    mad::InformInfo info{};  // with the subscriber's QPN
  };

  bool MayHear(const SaRequest& request, const mad::InformInfo& info) const;

  const Directory& directory_;
  std::list<Subscription> all_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_SUBSCRIPTIONS_H_
