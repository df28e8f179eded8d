// What a multicast group is like, and who fits into it: IBA vol 1 o15-0.2.1 to
// .5, and opensm where the specification leaves it open.
#ifndef IBEMU_FABRIC_SA_GROUP_PARAMETERS_H_
#define IBEMU_FABRIC_SA_GROUP_PARAMETERS_H_

#include <optional>

#include "fabric/sa/sa_request.h"
#include "fabric/subnet/subnet.h"
#include "mad/wire/sa_services.h"

namespace ibemu::fabric {

// RFC 4391: ff12:401b:ffff::ffff:ffff.
mad::McMemberRecord IpoibBroadcastGroup();

// The broadcast group that the IPoIB group `mgid` belongs to; nullopt: it is
// not of IPoIB.
std::optional<wire::Gid> BroadcastMgidOf(const wire::Gid& mgid);

// §4.1.1.
bool IsMgidValid(const wire::Gid& mgid);

// MTU, rate and P_Key are such, if the request has them.
bool AreGroupCodesValid(const SaRequest& request,
                        const mad::McMemberRecord& wanted);

// Whether a request to join fits the group in all components that it has.
bool FitsGroup(const SaRequest& request, const mad::McMemberRecord& wanted,
               const mad::McMemberRecord& group);

// The same for a query, which may also ask for MGID, MLID and scope.
bool MatchesGroup(const SaRequest& request, const mad::McMemberRecord& wanted,
                  const mad::McMemberRecord& group);

// Chooses what a new group's creator has left open.  False: what it asks for
// can't be.
bool CompleteGroup(const SaRequest& request, const NodePort& creator,
                   mad::McMemberRecord& group);

// The port's link is fast enough, and its MTU large enough.
bool CanCarry(const NodePort& port, const mad::McMemberRecord& group);

// o15-0.2.1: a membership is changed by the member; one by proxy, by whoever is
// in the group's partition.
bool MayModify(const Subnet& subnet, PortId requester, PortId member,
               bool proxy, const mad::McMemberRecord& group);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_GROUP_PARAMETERS_H_
