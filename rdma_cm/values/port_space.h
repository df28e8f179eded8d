// PortSpace: the space that a port number, and with it a service ID, belongs
// to.
#ifndef IBEMU_RDMA_CM_VALUES_PORT_SPACE_H_
#define IBEMU_RDMA_CM_VALUES_PORT_SPACE_H_

#include <cstdint>

namespace ibemu::rdma_cm {

// The port spaces of IBA vol 1 annex A11 (enum rdma_ucm_port_space).
enum class PortSpace : uint16_t {
  kIpoib = 0x0002,
  kTcp = 0x0106,
  kUdp = 0x0111,
  kIb = 0x013f,
};

// Returns the service ID under which `port` of a space is reached.
constexpr uint64_t ServiceId(PortSpace space, uint16_t port) {
  return static_cast<uint64_t>(space) << 16 | port;
}

// The bits of a service ID that name a port space, all but the port.
inline constexpr uint64_t kPortSpaceMask = ~uint64_t{0xffff};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_VALUES_PORT_SPACE_H_
