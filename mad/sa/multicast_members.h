// MulticastMembers: the multicast memberships of one port, shared by all who
// want them, as drivers/infiniband/core/multicast.c shares them.
#ifndef IBEMU_MAD_SA_MULTICAST_MEMBERS_H_
#define IBEMU_MAD_SA_MULTICAST_MEMBERS_H_

#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "mad/sa/sa_client.h"
#include "verbs/provider.h"

namespace ibemu::mad {

// A MulticastMembership is one user's share of a membership.  Destroying the
// last one of a group and JoinState leaves the group.
class MulticastMembership {
 public:
  virtual ~MulticastMembership() = default;
};

// A MulticastMembers holds the memberships of one port.
class MulticastMembers {
 public:
  // Told once with the group's record when the port is a member, or with why it
  // is not (SaClient's errors; InvalidArgument also for values that differ from
  // those of a membership that is there); later, if the membership is lost
  // (port error, LID change, client re-register), with Aborted (Linux:
  // ENETRESET). Never called before Join() returns; may destroy the membership.
  using Changed = absl::AnyInvocable<void(absl::StatusOr<McMemberRecord>)>;

  // `provider`, whose events of `port` end memberships, and the others must
  // outlive this.
  MulticastMembers(Timers& timers, verbs::Provider& provider, int port,
                   SaClient& sa);
  ~MulticastMembers();

  // Joins as `record` says in what `mask` names (MGID, PortGID and JoinState
  // always); an MGID of 0 asks the SA to choose one.  The membership may
  // outlive this, but is of no use then.
  std::unique_ptr<MulticastMembership> Join(const McMemberRecord& record,
                                            uint64_t mask, Changed changed);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_SA_MULTICAST_MEMBERS_H_
