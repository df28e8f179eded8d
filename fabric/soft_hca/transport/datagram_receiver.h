// DatagramReceiver: the receiving half of a datagram queue pair.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_DATAGRAM_RECEIVER_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_DATAGRAM_RECEIVER_H_

#include <cstdint>

#include "fabric/packet/packet.h"
#include "fabric/soft_hca/transport/queue_pair_link.h"
#include "fabric/soft_hca/transport/responder_steps.h"
#include "verbs/parts/memory_transfer.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

// The receiver of a UD queue pair (IBA vol 1 §9.8.4).  A datagram is put into
// memory behind 40 bytes for its GRH.  One that finds no receive request, or
// does not fit into it, is lost.
class DatagramReceiver {
 public:
  explicit DatagramReceiver(QueuePairLink& link)
      : link_(link), qp_(link.qp()), steps_(link) {}
  DatagramReceiver(const DatagramReceiver&) = delete;
  DatagramReceiver& operator=(const DatagramReceiver&) = delete;

  // Handles a datagram with the right Q_Key.  The P_Key at `pkey_index`
  // admitted it; `path_bits` is by how much its DLID is above the port's LID.
  void OnDatagram(const Packet& packet, uint16_t pkey_index, uint8_t path_bits);

  // The queue pair is in error: flushes the receive requests that datagrams
  // have taken.
  void Flush() { steps_.Flush(); }
  void Reset() { steps_.Reset(); }

 private:
  QueuePairLink& link_;
  const QueuePairContext& qp_;
  ResponderSteps steps_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_DATAGRAM_RECEIVER_H_
