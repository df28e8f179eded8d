// Routing: the ports of a view that addresses belong to or are reached by.
#ifndef IBEMU_RDMA_CM_ROUTING_H_
#define IBEMU_RDMA_CM_ROUTING_H_

#include <optional>
#include <vector>

#include "rdma_cm/host/local_port.h"
#include "rdma_cm/values/outcome.h"
#include "wire/ip_address.h"
#include "wire/types.h"

namespace ibemu::rdma_cm {

// The way to an IP address.
struct IpRoute {
  LocalPort port;
  wire::IpAddress source{};
  bool to_itself = false;  // the address is one of this port's
  int prefix = 0;          // of the network that has the address
};

// A Routing answers from the interfaces' networks and the ports' tables as they
// are now.  There are no gateways.
class Routing {
 public:
  // REQUIRES: `adapters` outlives this.
  explicit Routing(AdapterList& adapters) : adapters_(adapters) {}

  // The port whose interface has the address.
  std::optional<LocalPort> PortOf(const wire::IpAddress& address) const;
  // The port whose table has the GID.
  std::optional<LocalPort> PortOf(const wire::Gid& gid, uint16_t pkey) const;

  // The way to `address`, from `source` if given: by the network with the
  // longest prefix. Errors: kUnreachable, it is on no network of theirs.
  Outcome<IpRoute> RouteTo(const wire::IpAddress& address,
                           const std::optional<LocalPort>& source) const;

  // The port to reach a GID: that which has it, or else the first ACTIVE one
  // in that subnet and partition.
  std::optional<LocalPort> PortTo(const wire::Gid& gid, uint16_t pkey) const;

  // The first ACTIVE port, or else the first.
  std::optional<LocalPort> AnyPort() const;

 private:
  // All ports, each once for each of its interfaces, with its first GID and the
  // partition of the interface; one without interfaces with the first of its
  // table.
  std::vector<LocalPort> Ports() const;

  AdapterList& adapters_;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_ROUTING_H_
