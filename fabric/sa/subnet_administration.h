// SubnetAdministration: the subnet administration (SA) of the built-in subnet
// manager, IBA vol 1 chapter 15.
#ifndef IBEMU_FABRIC_SA_SUBNET_ADMINISTRATION_H_
#define IBEMU_FABRIC_SA_SUBNET_ADMINISTRATION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/timers.h"
#include "fabric/sa/alias_guids.h"
#include "fabric/sa/directory.h"
#include "fabric/sa/multicast_groups.h"
#include "fabric/sa/sa_request.h"
#include "fabric/sa/service_port.h"
#include "fabric/sa/services.h"
#include "fabric/sa/subscriptions.h"
#include "fabric/sm/subnet_observer.h"
#include "fabric/subnet/events.h"
#include "mad/host.h"

namespace ibemu::fabric {

// The SA.  It answers as opensm does while its manager is master, and otherwise
// not at all.  When the mastership ends, it drops all groups, services and
// subscriptions.
//
// It is a client of its own mad::Host, which provides RMPP, timeouts and
// retries.
class SubnetAdministration : public SubnetObserver,
                             public GmpHandler,
                             private mad::AgentClient {
 public:
  // The SM_Key, the same as opensm's.  A request with another one (except 0) is
  // dropped.
  static constexpr uint64_t kSmKey = 1;

  // Limits on answers in progress, for one requester and for all; further
  // requests get BUSY.
  static constexpr size_t kMaxOfRequester = 32;
  static constexpr size_t kMaxAnswers = 256;
  // The most bytes of all answers together; a request beyond that gets
  // ERR_NO_RESOURCES.
  static constexpr size_t kMaxBytes = 4 * SaRecords::kMaxBytes;

  // Returns the known managers of the subnet.
  using Managers = std::function<std::vector<SmIdentity>()>;

  // `port`: that of the manager.  All arguments must outlive this object.
  SubnetAdministration(Subnet& subnet, FabricEvents& events, MadSender& sender,
                       MulticastRoutes& routes, Timers& timers, PortId port,
                       Managers managers);
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
  // An answer, from its request to its last ACK.
  struct Answer {
    uint64_t id = 0;
    SaRequest request;
    std::unique_ptr<RecordSource> source;  // null: all records are found
    SaRecords records{1};
    size_t bytes = 0;
  };

  // mad::AgentClient.
  void OnMad(mad::Agent& agent, mad::IncomingMessage message) override;
  void OnSendDone(mad::Agent& agent, uint64_t cookie) override;
  void OnSendTimeout(mad::Agent& agent, uint64_t cookie) override;

  void LookAround();
  void Handle(const SaRequest& request);
  void HandleQuery(const SaRequest& request);
  void HandleChange(const SaRequest& request);
  // Checks a query before records are read.  Returns the status of the answer
  // to an invalid one, or kOk.
  mad::MadStatus CheckQuery(const SaRequest& request) const;
  // Finds records that need no time.  Returns false for other attributes.
  bool FindAtOnce(const SaRequest& request, SaRecords& records);
  std::unique_ptr<RecordSource> SourceFor(const SaRequest& request) const;
  void AddClassPortInfo(SaRecords& records) const;
  void AddManagers(const SaRequest& request, SaRecords& records) const;

  void Continue(uint64_t id);
  bool IsTooLong(const Answer& answer) const;
  void Finish(Answer& answer);
  void End(uint64_t id);
  void Respond(const SaRequest& request, mad::MadStatus status);
  void RespondWith(Answer& answer);
  template <wire::Structure T>
  void RespondWithOne(const SaRequest& request, const T& record,
                      mad::MadStatus status);

  void OnGroup(const wire::Gid& mgid, bool created);
  void ReportGid(mad::TrapNumber number, const wire::Gid& gid, PortId source);
  void Report(const mad::SaNotice& notice, PortId source);

  Subnet& subnet_;
  Timers& timers_;
  const PortId port_;
  const Managers managers_;
  Directory directory_;
  MulticastGroups groups_;
  Services services_;
  Subscriptions subscriptions_;
  AliasGuids alias_guids_;
  ServicePort service_port_;
  mad::Host host_;
  std::unique_ptr<mad::Agent> agent_;

  bool is_master_ = false;
  absl::Time looked_around_ = absl::InfinitePast();
  uint64_t next_id_ = 1;
  uint32_t next_tid_ = 1;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Answer>> answers_;
  absl::flat_hash_map<PortId, size_t> answers_of_;
  size_t bytes_ = 0;  // of all answers
  // Idle tasks may outlive this object: they hold a weak_ptr to this.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_SUBNET_ADMINISTRATION_H_
