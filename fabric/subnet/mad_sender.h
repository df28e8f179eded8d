// MadSender: the sender of MADs from the own nodes of the fabric, which
// Endpoints implements.
#ifndef IBEMU_FABRIC_SUBNET_MAD_SENDER_H_
#define IBEMU_FABRIC_SUBNET_MAD_SENDER_H_

#include "fabric/subnet/node.h"
#include "mad/address.h"

namespace ibemu::fabric {

// A MadSender sends MADs from the fabric's own nodes: answers and traps.
class MadSender {
 public:
  virtual ~MadSender() = default;

  // Sends like mad::Port::Transmit(), from an end port of any node (port 0 of a
  // switch).  Nothing is delivered before the call returns.
  virtual void SendMad(PortId from, const mad::Outgoing& packet) = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_MAD_SENDER_H_
