// The ways of multicast packets.
#ifndef IBEMU_FABRIC_SM_MULTICAST_ROUTER_H_
#define IBEMU_FABRIC_SM_MULTICAST_ROUTER_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fabric/sm/multicast_routes.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// One spanning tree per multicast LID, over the switches that have members: its
// root is the first member's switch, its branches are shortest paths over links
// that are up.  A packet goes where receivers are, and comes from everybody;
// nothing is sent back to a member that only sends.  A switch whose table ends
// before the LID (SwitchInfo.MulticastFDBCap) is in no tree.
class MulticastRouter {
 public:
  explicit MulticastRouter(Subnet& subnet) : subnet_(subnet) {}

  // Only remembers them.  No members: forgets the LID.
  void SetMembers(wire::Lid mlid, MulticastMembers members);

  // Sets the tables of this LID anew, from its members.
  void Route(wire::Lid mlid);

  // The same for all LIDs.
  void RouteAll();

  // Empties the tables of these switches, whoever filled them, and sets all
  // LIDs anew.
  void TakeOver(const std::vector<topology::NodeId>& switches);

 private:
  // A switch's number in a tree; the root has 0.
  using Place = uint32_t;
  struct Branch {
    topology::NodeId node{};
    Place parent = 0;
    int port_up = 0;           // towards the parent
    int port_down = 0;         // of the parent, towards this one
    uint32_t receivers = 0;    // at this switch and behind it
    bool has_members = false;  // the same, senders included
  };

  std::vector<Branch> Grow(topology::NodeId root, uint16_t index) const;
  // The switch that serves an end port; false if there is none.
  bool FindSwitch(PortId member, topology::NodeId& node, int& port) const;
  void Clear(wire::Lid mlid);
  void Set(wire::Lid mlid, topology::NodeId node, int port);

  Subnet& subnet_;
  absl::flat_hash_map<wire::Lid, MulticastMembers> members_;
  // The bits that are set, by LID.
  absl::flat_hash_map<wire::Lid, std::vector<std::pair<topology::NodeId, int>>>
      routed_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_MULTICAST_ROUTER_H_
