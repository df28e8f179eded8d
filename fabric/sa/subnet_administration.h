// SubnetAdministration: the subnet administration (SA) of the built-in subnet
// manager, IBA vol 1 chapter 15.
#ifndef IBEMU_FABRIC_SA_SUBNET_ADMINISTRATION_H_
#define IBEMU_FABRIC_SA_SUBNET_ADMINISTRATION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/timers.h"
#include "fabric/sa/alias_guids.h"
#include "fabric/sa/directory.h"
#include "fabric/sa/multicast_groups.h"
#include "fabric/sa/registered_services.h"
#include "fabric/sa/sa_lookup.h"
#include "fabric/sa/sa_queries.h"
#include "fabric/sa/sa_request.h"
#include "fabric/sa/service_port.h"
#include "fabric/sa/subscriptions.h"
#include "fabric/sm/subnet_observer.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/mad_sender.h"
#include "mad/host.h"

namespace ibemu::fabric {

// The SA.  It answers as opensm does while its manager is master, and otherwise
// not at all.  When the mastership ends, it drops all groups, services and
// subscriptions.
//
// It takes requests, makes the changes and sends the reports; queries are
// answered by SaQueries.  It is a client of its own mad::Host, which provides
// RMPP, timeouts and retries.
class SubnetAdministration : public SubnetObserver,
                             public GmpHandler,
                             private mad::AgentClient {
 public:
  // The SM_Key, the same as opensm's.  A request with another one (except 0) is
  // dropped.
  static constexpr uint64_t kSmKey = 1;

  // `port`: that of the manager.  All arguments must outlive this object.
  SubnetAdministration(Subnet& subnet, FabricEvents& events, MadSender& sender,
                       MulticastRoutes& routes, Timers& timers, PortId port,
                       SaLookup::Managers managers);
  ~SubnetAdministration() override;

  // SubnetObserver.
  void OnMastership(bool is_master) override;
  void OnPorts(const std::vector<PortId>& came,
               const std::vector<PortId>& went) override;
  void OnNotice(const mad::Notice& notice,
                const mad::Arrival& arrival) override;

  // GmpHandler.
  bool Take(const mad::Arrival& arrival) override;

  const MulticastGroups& groups() const { return groups_; }

 private:
  // mad::AgentClient.
  void OnMad(mad::Agent& agent, mad::IncomingMessage message) override;
  void OnSendDone(mad::Agent& agent, uint64_t cookie) override;
  void OnSendTimeout(mad::Agent& agent, uint64_t cookie) override;

  void LookAround();
  void Handle(const SaRequest& request);
  void HandleChange(const SaRequest& request);
  void Respond(const SaRequest& request, std::vector<std::byte> mad);

  void OnGroup(const wire::Gid& mgid, bool created);
  void ReportGid(mad::TrapNumber number, const wire::Gid& gid, PortId source);
  void Report(const mad::SaNotice& notice, PortId source);

  Timers& timers_;
  const PortId port_;
  Directory directory_;
  MulticastGroups groups_;
  RegisteredServices services_;
  Subscriptions subscriptions_;
  AliasGuids alias_guids_;
  SaLookup lookup_;
  ServicePort service_port_;
  mad::Host host_;
  // Both exist while the manager is master.
  std::unique_ptr<mad::Agent> agent_;
  std::optional<SaQueries> queries_;

  bool is_master_ = false;
  absl::Time looked_around_ = absl::InfinitePast();
  uint32_t next_tid_ = 1;  // of reports
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_SUBNET_ADMINISTRATION_H_
