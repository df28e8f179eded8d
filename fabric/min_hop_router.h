// Forwarding tables in which every path is a shortest one.
#ifndef IBEMU_FABRIC_MIN_HOP_ROUTER_H_
#define IBEMU_FABRIC_MIN_HOP_ROUTER_H_

#include <cstdint>
#include <vector>

#include "fabric/subnet.h"

namespace ibemu::fabric {

// Of equally short ways a switch takes the one that carries the fewest paths
// so far, where a path is one from a host to another: all hosts are taken to
// talk to all others alike.  In a fat tree this comes to the well-known
// D-mod-K: each host is reached through spines of its own.
//
// A fat tree's paths go up and then down, and hence cannot deadlock; on a
// torus or a dragonfly they could, if links had credits.
class MinHopRouter {
 public:
  // The LIDs must be set; links that are down are not used.
  explicit MinHopRouter(Subnet& subnet);

  // Fills the linear tables of all switches.
  void Route();

 private:
  // Index of a switch, or of one of their ports, in the arrays below.
  using Switch = uint32_t;
  using Port = uint32_t;

  static constexpr uint16_t kUnreached = 0xffff;

  struct Cable {
    Switch to;
    uint8_t port;  // of the switch that it leaves
  };

  // The other end of a switch's cable to a host.
  struct Host {
    mad::Lid lid;
    uint8_t port;
  };

  void ReadSubnet();
  void Explore(Switch destination);
  void FindChoices();
  void RouteHost(Switch destination, const Host& host);
  void RouteSwitch(Switch destination);
  // Points blocks_ to where `lid` belongs.
  void OpenBlocks(mad::Lid lid);

  Subnet& subnet_;
  std::vector<SwitchState*> states_;  // by switch
  std::vector<mad::Lid> lids_;

  // By switch; entry n + 1 is where that of switch n ends.
  std::vector<uint32_t> first_cable_, first_neighbour_, first_host_;
  std::vector<Cable> cables_;
  std::vector<Switch> neighbours_;  // each once, however many cables there are
  std::vector<Host> hosts_;
  std::vector<uint32_t> load_;  // paths through each of cables_

  // The block of each switch's table that is being filled.
  std::vector<LinearTable::Block*> blocks_;
  uint32_t block_ = 0xffffffff;

  // For one destination.
  std::vector<uint16_t> distance_;
  std::vector<Switch> order_;  // those that reach it, nearest first
  std::vector<uint32_t> choices_, first_choice_;  // indices of cables_
  std::vector<uint32_t> paths_;  // from sources at or behind each switch
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_MIN_HOP_ROUTER_H_
