// The addresses of rdma_cm's commands: sockaddr_in, sockaddr_in6, sockaddr_ib.
#ifndef IBEMU_CUSE_RDMA_CM_ADDRESSES_H_
#define IBEMU_CUSE_RDMA_CM_ADDRESSES_H_

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "mad/address.h"
#include "rdma_cm/values/socket_address.h"

namespace ibemu::cuse {

// struct sockaddr_ib, which no header of Linux's uapi has: IB addresses.
struct SockaddrIb {
  uint16_t family = 0;
  uint16_t pkey_be = 0;
  uint32_t flowinfo_be = 0;
  uint8_t gid[16] = {};
  uint64_t sid_be = 0;
  uint64_t sid_mask_be = 0;
  uint64_t scope_id = 0;
};
static_assert(sizeof(SockaddrIb) == 48);
inline constexpr uint16_t kFamilyIb = 27;  // AF_IB

// Returns the size of the address that begins so: 0 if its family is unknown
// (rdma_addr_size()).
size_t AddressSize(mad::Bytes address);

// Returns the address; one of Family::kNone if its family is unknown or it is
// cut.
rdma_cm::SocketAddress ReadAddress(mad::Bytes address);

// Writes the address at the front of `to` and returns its size; the rest stays
// as it is.  REQUIRES: there is room.
size_t WriteAddress(const rdma_cm::SocketAddress& address,
                    std::span<std::byte> to);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_RDMA_CM_ADDRESSES_H_
