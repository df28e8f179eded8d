// What of the fabric belongs to one subnet.
#ifndef IBEMU_FABRIC_SM_SUBNET_REACH_H_
#define IBEMU_FABRIC_SM_SUBNET_REACH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// The end ports (of a switch: port 0) that SMPs from one of them get to, over
// links that are up at the time of its making.  Only switches pass them on.
class SubnetReach {
 public:
  SubnetReach() = default;
  SubnetReach(const Subnet& subnet, PortId from);

  bool Contains(PortId end_port) const;

  // Those of hosts and routers, then those of switches, each in the order of
  // the nodes.
  const std::vector<PortId>& ends() const { return ends_; }

  // The egress ports of a directed route to `end_port`, a shortest one.
  // nullopt: there is none, or it has more than 63 hops.
  std::optional<std::vector<uint8_t>> PathTo(PortId end_port) const;

 private:
  struct Entry {
    PortId ingress = kNoPort;  // where a packet comes in
    bool reached = false;
  };

  const Subnet* subnet_ = nullptr;
  PortId from_ = kNoPort;
  std::vector<Entry> entries_;  // by end port
  std::vector<PortId> ends_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SUBNET_REACH_H_
