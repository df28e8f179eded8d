// MulticastRouter: the forwarding of multicast packets.
#ifndef IBEMU_FABRIC_SM_MULTICAST_ROUTER_H_
#define IBEMU_FABRIC_SM_MULTICAST_ROUTER_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fabric/sm/multicast_routes.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// The routes of multicast LIDs.  Each LID has one spanning tree over the
// switches that have members.  Its root is the switch of the first member, and
// its branches are shortest paths over links that are up.  Packets may come
// from every member but only go where receivers are: nothing is sent back to a
// send-only member.  A switch whose table ends before the LID
// (SwitchInfo.MulticastFDBCap) is in no tree.
class MulticastRouter {
 public:
  explicit MulticastRouter(Subnet& subnet) : subnet_(subnet) {}

  // Sets the members of a LID, without routing it.  An empty list forgets the
  // LID.
  void SetMembers(wire::Lid mlid, MlidMembers members);

  // Sets the tables for this LID again, from its members.
  void Route(wire::Lid mlid);

  // The same for all LIDs.
  void RouteAll();

  // Clears the tables of these switches, whatever is in them, and routes all
  // LIDs again.
  void TakeOver(const std::vector<topology::NodeId>& switches);

 private:
  // The index of a switch in a tree; the root has 0.
  using Place = uint32_t;
  struct Branch {
    topology::NodeId node{};
    Place parent = 0;
    int port_up = 0;           // towards the parent
    int port_down = 0;         // of the parent, towards this switch
    uint32_t receivers = 0;    // at this switch and below it
    bool has_members = false;  // the same, including senders
  };

  std::vector<Branch> Grow(topology::NodeId root, uint16_t index) const;
  // Finds the switch and switch port of an end port.  Returns false if there is
  // none.
  bool FindSwitch(PortId member, topology::NodeId& node, int& port) const;
  void Clear(wire::Lid mlid);
  void Set(wire::Lid mlid, topology::NodeId node, int port);

  Subnet& subnet_;
  absl::flat_hash_map<wire::Lid, MlidMembers> members_;
  // The switch ports that are set in the tables, by LID.
  absl::flat_hash_map<wire::Lid, std::vector<std::pair<topology::NodeId, int>>>
      routed_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_MULTICAST_ROUTER_H_
