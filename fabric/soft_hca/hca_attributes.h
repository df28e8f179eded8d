// Capabilities of the software channel adapter: QUERY_DEVICE and QUERY_PORT.
#ifndef IBEMU_FABRIC_SOFT_HCA_HCA_ATTRIBUTES_H_
#define IBEMU_FABRIC_SOFT_HCA_HCA_ATTRIBUTES_H_

#include "fabric/subnet/subnet.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

// Returns the limits that the topology gives to the node, or the usual ones.
topology::DeviceLimits LimitsOf(const Node& node);
verbs::DeviceAttributes HcaAttributesOf(const Node& node,
                                        const NodePort& first_port);
verbs::PortAttributes PortAttributesOf(const Node& node, const NodePort& port);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_HCA_ATTRIBUTES_H_
