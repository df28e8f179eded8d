// PmaPort: the state of the performance management agent for one port, beside
// the counters.
#ifndef IBEMU_FABRIC_AGENTS_PMA_PORT_H_
#define IBEMU_FABRIC_AGENTS_PMA_PORT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/agents/pma_sampler.h"
#include "fabric/subnet/node.h"
#include "wire/opcode.h"

namespace ibemu::fabric {

// A port has none until the first Set.
struct PmaPort : AgentPortState {
  // By Counter: what the port had counted when the shown value was zero (modulo
  // 2^64).  Shorter than the enum, or empty: zeros.
  std::vector<uint64_t> base;

  // The opcode of the packets that PortOpRcvCounters, PortVLOpPackets and
  // PortVLOpData count: at first that of every management datagram.
  uint8_t op_code = wire::opcode::kUdSendOnly;
  uint8_t vl_packets_op_code = wire::opcode::kUdSendOnly;
  uint8_t vl_data_op_code = wire::opcode::kUdSendOnly;

  std::shared_ptr<PmaSampler> sampler;  // of a management port
};

// Makes it if there is none.
PmaPort& PmaOf(NodePort& port);
// nullptr if there is none.
const PmaPort* FindPma(const NodePort& port);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_PMA_PORT_H_
