// Forwarding tables in which every path is a shortest one that is allowed.
#ifndef IBEMU_FABRIC_ROUTING_MIN_HOP_ROUTER_H_
#define IBEMU_FABRIC_ROUTING_MIN_HOP_ROUTER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// Of equally short ways a switch takes the one that carries the fewest paths
// so far, where a path is one from a host to another: all hosts are taken to
// talk to all others alike.  In a fat tree this comes to the well-known
// D-mod-K: each host is reached through spines of its own.
//
// In a fat tree (RankSwitches()) a path goes up and then down, and hence cannot
// deadlock, even if cuts leave shorter ones that turn up again.  Only where all
// others are cut it takes such a one.  On a torus or a dragonfly any shortest
// path will do; they could deadlock, if links had credits.
class MinHopRouter {
 public:
  // Of `switches` (those that are down are left out), by the LIDs that they and
  // the ports behind them have now.  Links that are down are not used.
  MinHopRouter(Subnet& subnet, std::span<const topology::NodeId> switches);

  // Fills the linear tables of these switches.  What has no way, or no LID any
  // more, has no entry, up to `top`.
  void Route(wire::Lid top);

  // The same in pieces of about `entries` entries, at least one switch's hosts
  // at a time; false: there is more to do.  A switch that is powered on
  // meanwhile is left with part of its entries.
  bool RouteSome(size_t entries, wire::Lid top);

  // What Route() made is right for `now` too: the switches and cables between
  // them are the same, and there are no other hosts than before.
  bool Covers(const MinHopRouter& now) const;

 private:
  // Index of a switch, or of one of their ports, in the arrays below.
  using Switch = uint32_t;
  using Port = uint32_t;

  static constexpr uint16_t kUnreached = 0xffff;
  static constexpr uint32_t kNoBlock = 0xffffffff;

  struct Cable {
    Switch to;
    uint8_t port;  // of the switch that it leaves
    bool operator==(const Cable&) const = default;
  };

  // The other end of a switch's cable to a host.
  struct Host {
    wire::Lid lid;
    uint8_t port;
  };

  // Where a path goes on from a switch.
  enum class Way : uint8_t { kDown, kUp, kAny };

  void ReadSubnet(std::span<const topology::NodeId> switches);
  void RouteTo(Switch destination);
  // Sets distance_, order_ and way_.
  void Explore(Switch destination);
  void ExploreAgainstTheRules();
  void Reach(Switch from, Switch to, Way way);
  void FindChoices();
  bool IsAllowed(Switch from, Switch to) const;
  void ForgetUnreached(wire::Lid lid);
  void ForgetUnassigned(wire::Lid top);
  void RouteHost(Switch destination, const Host& host);
  void RouteSwitch(Switch destination);
  // Points blocks_ to where `lid` belongs.
  void OpenBlocks(wire::Lid lid);

  Subnet& subnet_;
  std::vector<SwitchState*> states_;  // by switch
  std::vector<wire::Lid> lids_;
  std::vector<uint16_t> ranks_;  // empty: there is neither up nor down

  // By switch; entry n + 1 is where that of switch n ends.
  std::vector<uint32_t> first_cable_, first_neighbour_, first_host_;
  std::vector<Cable> cables_;
  std::vector<Switch> neighbours_;  // each once, however many cables there are
  std::vector<Host> hosts_;
  std::vector<uint32_t> load_;  // paths through each of cables_

  // The block of each switch's table that is being filled.
  std::vector<LinearTable::Block*> blocks_;
  uint32_t block_ = kNoBlock;
  Switch next_ = 0;  // destination, of RouteSome()

  // For one destination.
  std::vector<uint16_t> distance_;
  std::vector<Way> way_;
  std::vector<Switch> order_;  // those that reach it, nearest first
  std::vector<uint32_t> choices_, first_choice_;  // indices of cables_
  std::vector<uint32_t> paths_;  // from sources at or behind each switch
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_ROUTING_MIN_HOP_ROUTER_H_
