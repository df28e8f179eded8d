// The parameters of multicast groups, and the rules for joining them: IBA vol 1
// o15-0.2.1 to .5, and opensm where the specification leaves it open.
#ifndef IBEMU_FABRIC_SA_GROUP_PARAMETERS_H_
#define IBEMU_FABRIC_SA_GROUP_PARAMETERS_H_

#include <optional>

#include "fabric/sa/sa_request.h"
#include "fabric/subnet/subnet.h"
#include "mad/wire/sa_services.h"

namespace ibemu::fabric {

// Returns the parameters of IPoIB's broadcast group, RFC 4391:
// ff12:401b:ffff::ffff:ffff.
mad::McMemberRecord IpoibBroadcastGroup();

// Returns the MGID of the broadcast group that the IPoIB group `mgid` belongs
// to; nullopt if it is not an IPoIB group.
std::optional<wire::Gid> BroadcastMgidOf(const wire::Gid& mgid);

// Returns true if `mgid` is a legal multicast GID, §4.1.1.
bool IsMgidValid(const wire::Gid& mgid);

// Returns true if MTU, rate and P_Key have legal codes, as far as the request
// has them.
bool AreGroupCodesValid(const SaRequest& request,
                        const mad::McMemberRecord& wanted);

// Returns true if a request to join fits the group in all components that it
// has.
bool FitsGroup(const SaRequest& request, const mad::McMemberRecord& wanted,
               const mad::McMemberRecord& group);

// The same for a query, which may also specify MGID, MLID and scope.
bool MatchesGroup(const SaRequest& request, const mad::McMemberRecord& wanted,
                  const mad::McMemberRecord& group);

// Chooses the parameters that the creator of a group has left open.  Returns
// false if the request cannot be met.
bool CompleteGroup(const SaRequest& request, const NodePort& creator,
                   mad::McMemberRecord& group);

// Returns true if the port's link is fast enough, and its MTU large enough.
bool CanCarry(const NodePort& port, const mad::McMemberRecord& group);

// Returns true if `requester` may change a membership (o15-0.2.1): its own, or,
// if it is one by proxy, that of any port as long as the requester is in the
// group's partition.
bool MayModify(const Subnet& subnet, PortId requester, PortId member,
               bool proxy, const mad::McMemberRecord& group);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_GROUP_PARAMETERS_H_
