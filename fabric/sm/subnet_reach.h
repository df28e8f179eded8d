// SubnetReach: the part of the fabric that belongs to one subnet.
#ifndef IBEMU_FABRIC_SM_SUBNET_REACH_H_
#define IBEMU_FABRIC_SM_SUBNET_REACH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// The end ports (on a switch: port 0) that SMPs from one of them can reach over
// the links that are up when this object is made.  Only switches forward SMPs.
class SubnetReach {
 public:
  SubnetReach() = default;
  SubnetReach(const Subnet& subnet, PortId from);

  bool Contains(PortId end_port) const;

  // Returns the end ports: those of hosts and routers, then those of switches,
  // each in the order of the nodes.
  const std::vector<PortId>& ends() const { return ends_; }

  // Returns the egress ports of a shortest directed route to `end_port`;
  // nullopt if there is none, or if it has more than 63 hops.
  std::optional<std::vector<uint8_t>> PathTo(PortId end_port) const;

 private:
  struct Entry {
    PortId ingress = kNoPort;  // where packets from the start come in
    bool reached = false;
  };

  const Subnet* subnet_ = nullptr;
  PortId from_ = kNoPort;
  std::vector<Entry> entries_;  // by end port
  std::vector<PortId> ends_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SUBNET_REACH_H_
