// IbstatAdapter: an adapter in the output of `ibstat`, which adds labels to a
// recorded subnet.
#ifndef IBEMU_TOPOLOGY_FORMATS_TEXT_IBSTAT_TEXT_H_
#define IBEMU_TOPOLOGY_FORMATS_TEXT_IBSTAT_TEXT_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace ibemu::topology {

// An adapter as ibstat reports it.
struct IbstatAdapter {
  std::string name;  // "mlx5_0"
  mad::DeviceLabel label;
  int port_count = 0;
  wire::Guid node_guid{}, system_image_guid{};
  std::map<int, wire::Guid> port_guids;
  bool is_ethernet = false;  // all its ports are Ethernet
};

// Parses the output of one or more runs of ibstat, one after the other.
//
// Errors: InvalidArgument with every fault, one per line: `ibstat.txt:4: ...`.
absl::StatusOr<std::vector<IbstatAdapter>> ParseIbstat(std::string_view text,
                                                       std::string_view file);

// Gives the nodes of `topology` the labels of `adapters`.  Adapters that it
// lacks, because they have no cable, become nodes of their own.  Adapters with
// only Ethernet ports are ignored.
void AddAdapters(const std::vector<IbstatAdapter>& adapters,
                 Topology& topology);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_TEXT_IBSTAT_TEXT_H_
