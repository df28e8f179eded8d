// NodeNames: the nodes of a subnet by what people call them.
#ifndef IBEMU_FABRIC_SUBNET_NODE_NAMES_H_
#define IBEMU_FABRIC_SUBNET_NODE_NAMES_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "fabric/subnet/subnet.h"
#include "topology/topology.h"

namespace ibemu::fabric {

// The names of a subnet's nodes as they are now: a node's description, its name
// in the topology file, the description that it had there, the GUID of the node
// or of one of its ports ("0x..."), in this order.
class NodeNames {
 public:
  // REQUIRES: `subnet` outlives this object.
  explicit NodeNames(const Subnet& subnet) : subnet_(subnet) {}

  // Returns the one node that is called `wanted`.
  //
  // Errors: those of FindHost(); InvalidArgument for a host with several
  // adapters.
  absl::StatusOr<topology::NodeId> Find(std::string_view wanted) const;

  // Returns the node that is called `wanted`, or all adapters of the host of
  // that name: "srv9 mlx5_0" and "srv9 mlx5_1" for "srv9".
  //
  // Errors: NotFound ("did you mean ..."); InvalidArgument if several nodes are
  // called so.
  absl::StatusOr<std::vector<topology::NodeId>> FindHost(
      std::string_view wanted) const;

 private:
  const Subnet& subnet_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_NODE_NAMES_H_
