// SocketAddress: an address that rdma_cm knows, as a value.
#ifndef IBEMU_RDMA_CM_VALUES_SOCKET_ADDRESS_H_
#define IBEMU_RDMA_CM_VALUES_SOCKET_ADDRESS_H_

#include <cstdint>

#include "wire/ip_address.h"
#include "wire/types.h"

namespace ibemu::rdma_cm {

enum class Family : uint8_t { kNone, kIpv4, kIpv6, kIb };

// A SocketAddress is a sockaddr_in, sockaddr_in6 or sockaddr_ib in host order.
// `family` says which members count.
struct SocketAddress {
  Family family = Family::kNone;

  uint16_t ip_port = 0;   // IP
  wire::IpAddress ip{};   // IP
  uint32_t flowinfo = 0;  // IPv6 and IB
  uint64_t scope_id = 0;  // IPv6 (32 bits) and IB

  uint16_t pkey = 0;      // IB
  wire::Gid gid{};        // IB
  uint64_t sid = 0;       // IB: the service ID
  uint64_t sid_mask = 0;  // IB: the bits of it that are given

  bool operator==(const SocketAddress&) const = default;

  static SocketAddress Ip(const wire::IpAddress& address, uint16_t port);
  static SocketAddress Ib(const wire::Gid& gid, uint64_t sid,
                          uint64_t sid_mask = ~uint64_t{0});
  // Returns the unspecified address of a family, with port 0.
  static SocketAddress Wildcard(Family family);

  // Unspecified or loopback (cma_any_addr()): the address of no interface.
  bool IsWildcard() const;
  bool IsLoopback() const;
  bool IsMulticast() const;

  // cma_port(): of an IB address, the bits of the service ID that are given.
  uint16_t port() const;
  void SetPort(uint16_t port);

  // The same address, whatever the port (cma_addr_cmp()).
  bool IsSameHost(const SocketAddress& other) const;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_VALUES_SOCKET_ADDRESS_H_
