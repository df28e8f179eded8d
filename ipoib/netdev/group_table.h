// GroupTable: the multicast groups that a network device sends to and listens
// to.
#ifndef IBEMU_IPOIB_NETDEV_GROUP_TABLE_H_
#define IBEMU_IPOIB_NETDEV_GROUP_TABLE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "absl/time/time.h"
#include "base/timers.h"
#include "ipoib/link.h"
#include "ipoib/steady_membership.h"
#include "mad/wire/sa_services.h"
#include "wire/ip_address.h"

namespace ibemu::ipoib {

// A GroupTable is a member of the groups that its kernel listens to, and joins
// others as a sender when there is something to send, until that was a minute
// ago.
class GroupTable {
 public:
  static constexpr size_t kMaxListened = 64;
  static constexpr size_t kMaxSentTo = 64;
  static constexpr size_t kMaxWaiting = 3;  // for a join, as in Linux
  static constexpr absl::Duration kIdle = absl::Minutes(1);

  using Datagram = std::vector<std::byte>;

  // Both must outlive this.
  GroupTable(Timers& timers, Link& link);
  ~GroupTable();
  GroupTable(const GroupTable&) = delete;
  GroupTable& operator=(const GroupTable&) = delete;

  // Sends a datagram, now or when its group was joined; or loses it.
  // REQUIRES: the link is up.
  void Send(const wire::IpAddress& group, Datagram datagram);

  // Listens to a group from now on, unless there are too many; or no more.
  void Listen(const wire::IpAddress& group);
  void Ignore(const wire::IpAddress& group);

  // Begins all memberships anew: the link has changed.
  void OnLinkChange();

 private:
  struct Group {
    std::unique_ptr<SteadyMembership> membership;
    std::optional<mad::McMemberRecord> attached;  // of one listened to
    absl::Time used = absl::InfinitePast();
    std::vector<Datagram> waiting;
  };

  Group* Find(const wire::IpAddress& address);
  void Join(const wire::IpAddress& address, Group& group, Link::JoinAs as);
  void OnJoined(Group& group, const mad::McMemberRecord* record,
                Link::JoinAs as);
  void Leave(Group& group);
  void LeaveIdle();

  Timers& timers_;
  Link& link_;
  std::set<wire::IpAddress> listened_;  // also while the link is down
  std::map<wire::IpAddress, Group> receiving_, sending_;
  TimerId idle_ = TimerId::kNone;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_NETDEV_GROUP_TABLE_H_
