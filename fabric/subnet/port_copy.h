// A port as another fabric has it.
#ifndef IBEMU_FABRIC_SUBNET_PORT_COPY_H_
#define IBEMU_FABRIC_SUBNET_PORT_COPY_H_

#include <cstdint>
#include <vector>

#include "fabric/subnet/subnet.h"
#include "mad/wire/port_info.h"
#include "wire/types.h"

namespace ibemu::fabric {

// A PortCopy is what there is to know of a port of an adapter.
struct PortCopy {
  mad::PortInfo info{};
  std::vector<wire::Gid> gids{};
  std::vector<uint16_t> p_keys{};
};

// Makes a port what `copy` says, and the other end of its link a port without a
// LID that matches it.  Entries of the tables for which there is no place are
// left out.  Returns whether that changed anything.  REQUIRES: the port is one
// of a channel adapter, and has a peer.
bool TakeCopy(Subnet& subnet, PortId port, const PortCopy& copy);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_PORT_COPY_H_
