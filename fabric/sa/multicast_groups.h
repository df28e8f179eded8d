// MulticastGroups: the multicast groups of the subnet, IBA vol 1 §15.2.5.17 and
// o15-0.2.
#ifndef IBEMU_FABRIC_SA_MULTICAST_GROUPS_H_
#define IBEMU_FABRIC_SA_MULTICAST_GROUPS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/timers.h"
#include "fabric/sa/directory.h"
#include "fabric/sa/sa_request.h"
#include "fabric/sm/multicast_routes.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/sa_services.h"

namespace ibemu::fabric {

// The groups and their members.  Where the specification leaves it open, the
// behaviour is that of opensm.
class MulticastGroups {
 public:
  struct Member {
    PortId port = kNoPort;
    wire::Gid gid{};
    uint8_t join_state = 0;
    bool proxy = false;
  };
  struct Group {
    mad::McMemberRecord parameters{};
    bool well_known = false;               // remains without members
    std::map<uint64_t, Member> members{};  // by GUID

    int full_members() const;
  };

  // Called with a group's MGID after its first full member joined (`created`),
  // and after the last one left.
  using Observer = std::function<void(const wire::Gid& mgid, bool created)>;

  MulticastGroups(const Directory& directory, MulticastRoutes& routes,
                  Timers& timers, Observer observer);
  ~MulticastGroups();
  MulticastGroups(const MulticastGroups&) = delete;
  MulticastGroups& operator=(const MulticastGroups&) = delete;

  // Creates IPoIB's broadcast group of the default partition.
  void Begin();
  // Deletes all groups and their routes.
  void Clear();

  // Set and Delete(MCMemberRecord): Join(), which may create the group, and
  // Leave().  `record` receives the answer.
  mad::MadStatus Join(const SaRequest& request, mad::McMemberRecord& record);
  mad::MadStatus Leave(const SaRequest& request, mad::McMemberRecord& record);

  // Get and GetTable.  Members are shown only to trusted requesters.
  void Find(const SaRequest& request, SaRecords& records) const;

  // Returns null if there is no such group.
  const Group* Find(const wire::Gid& mgid) const;

  // Removes a port that is gone from all groups.
  void RemovePort(PortId port);

  bool IsMember(uint64_t guid) const;

  // Returns true if a request for a path to `group` comes from where it may be
  // taken: a source that it names has to be a member.
  bool MayTakePath(const SaRequest& request, const Group& group) const;

 private:
  using Key = std::pair<uint64_t, uint64_t>;  // MGID
  using Groups = std::map<Key, Group>;

  mad::MadStatus Create(const SaRequest& request, PortId port,
                        mad::McMemberRecord wanted, Groups::iterator& created);
  wire::Gid NewMgid(const SaRequest& request,
                    const mad::McMemberRecord& wanted);
  wire::Lid NewMlid(wire::Lid wanted) const;
  void Remove(Groups::iterator group, uint64_t guid, uint8_t join_state);
  void RouteSoon(wire::Lid mlid);
  void Route();

  const Directory& directory_;
  MulticastRoutes& routes_;
  Timers& timers_;
  const Observer observer_;
  Groups groups_;
  std::set<wire::Lid> to_route_;
  TimerId route_timer_ = TimerId::kNone;
  uint32_t next_mgid_ = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_MULTICAST_GROUPS_H_
