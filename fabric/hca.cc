#include "fabric/hca.h"

#include "absl/strings/str_format.h"
#include "fabric/hca_attributes.h"

namespace ibemu::fabric {

verbs::DeviceAttributes Hca::QueryDevice() const {
  const Node& node = subnet_.node(id_);
  return HcaAttributesOf(node, subnet_.port(subnet_.port_id(node, 1)));
}

absl::StatusOr<verbs::PortAttributes> Hca::QueryPort(int port) const {
  const Node& node = subnet_.node(id_);
  if (!subnet_.has_port(node, port)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "port %d: the device has ports 1 to %d", port, node.port_count));
  }
  return PortAttributesOf(node, subnet_.port(subnet_.port_id(node, port)));
}

}  // namespace ibemu::fabric
