// MinHopRouter: forwarding tables with the shortest allowed paths.
#ifndef IBEMU_FABRIC_ROUTING_MIN_HOP_ROUTER_H_
#define IBEMU_FABRIC_ROUTING_MIN_HOP_ROUTER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// The routing engine.  Among equally short paths a switch chooses the one with
// the fewest paths so far, where each pair of hosts counts as one path: the
// engine assumes that all hosts talk equally to all others.  In a fat tree this
// gives the well-known D-mod-K routing: different hosts are reached through
// different spines.
//
// In a fat tree (RankSwitches()) a path goes up and then down, so it cannot
// deadlock.  Shorter paths that turn up again, which cuts may leave, are not
// used unless all others are cut.  On a torus or a dragonfly any shortest path
// is used; such paths could deadlock if links had credits.
class MinHopRouter {
 public:
  // Reads the cables and LIDs of `switches`, and of the ports behind them, as
  // they are now.  Switches and links that are down are left out.
  MinHopRouter(Subnet& subnet, std::span<const topology::NodeId> switches);

  // Fills the linear tables of the switches.  LIDs up to `top` that are
  // unreachable or no longer assigned have no entry.
  void Route(wire::Lid top);

  // The same in steps of about `entries` entries, but at least the hosts of one
  // switch.  Returns false if there is more to do.  A switch that is powered on
  // in the meantime keeps only part of its entries.
  bool RouteSome(size_t entries, wire::Lid top);

  // Returns true if the tables that Route() made are also right for `now`: the
  // switches and the cables between them are the same, and there are no new
  // hosts.
  bool Covers(const MinHopRouter& now) const;

 private:
  // The index of a switch, or of a switch port, in the arrays below.
  using Switch = uint32_t;
  using Port = uint32_t;

  static constexpr uint16_t kUnreached = 0xffff;
  static constexpr uint32_t kNoBlock = 0xffffffff;

  struct Cable {
    Switch to;
    uint8_t port;  // of the switch at this end
    bool operator==(const Cable&) const = default;
  };

  // A host that is connected to a switch: its LID, and the port of the switch.
  struct Host {
    wire::Lid lid;
    uint8_t port;
  };

  // The direction in which a path leaves a switch.  kAny: both are allowed.
  enum class Way : uint8_t { kDown, kUp, kAny };

  void ReadSubnet(std::span<const topology::NodeId> switches);
  void RouteTo(Switch destination);
  // Sets distance_, order_ and way_ for a destination.
  void Explore(Switch destination);
  void ExploreAgainstTheRules();
  void Reach(Switch from, Switch to, Way way);
  void FindChoices();
  bool IsAllowed(Switch from, Switch to) const;
  void ForgetUnreached(wire::Lid lid);
  void ForgetUnassigned(wire::Lid top);
  void RouteHost(Switch destination, const Host& host);
  void RouteSwitch(Switch destination);
  // Points blocks_ to the blocks of `lid`.
  void OpenBlocks(wire::Lid lid);

  Subnet& subnet_;
  std::vector<SwitchState*> states_;  // by switch
  std::vector<wire::Lid> lids_;
  std::vector<uint16_t> ranks_;  // empty: there is no up and down

  // By switch: the first index in the arrays below.  Those of switch n end at
  // entry n + 1.
  std::vector<uint32_t> first_cable_, first_neighbour_, first_host_;
  std::vector<Cable> cables_;
  std::vector<Switch> neighbours_;  // each once, even with several cables
  std::vector<Host> hosts_;
  std::vector<uint32_t> load_;  // number of paths through each of cables_

  // The block of each switch's table that is being filled.
  std::vector<LinearTable::Block*> blocks_;
  uint32_t block_ = kNoBlock;
  Switch next_ = 0;  // the next destination of RouteSome()

  // The state for the destination that is being routed.
  std::vector<uint16_t> distance_;
  std::vector<Way> way_;
  std::vector<Switch> order_;  // switches that reach it, nearest first
  std::vector<uint32_t> choices_, first_choice_;  // indices of cables_
  std::vector<uint32_t> paths_;  // paths from hosts at or behind each switch
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_ROUTING_MIN_HOP_ROUTER_H_
