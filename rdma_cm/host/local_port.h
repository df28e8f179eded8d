// LocalPort: the port of an adapter that an id uses.
#ifndef IBEMU_RDMA_CM_HOST_LOCAL_PORT_H_
#define IBEMU_RDMA_CM_HOST_LOCAL_PORT_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "rdma_cm/host/adapter.h"
#include "wire/types.h"

namespace ibemu::rdma_cm {

// A LocalPort is a port with the GID and the partition that are used of it.
struct LocalPort {
  std::shared_ptr<Adapter> adapter;
  int number = 0;
  wire::Gid gid{};
  uint16_t pkey = 0;
  // Whose addresses lead here; null: none.  It lives as long as the adapter.
  ipoib::Interface* interface = nullptr;

  mad::Port& port() const { return adapter->host().device().port(number); }
  mad::SaClient& sa() const { return adapter->sa(number); }
  bool IsActive() const {
    return port().Info().port_state == mad::PortState::kActive;
  }

  // The place of the P_Key in the port's table, of a full member's if there is
  // one; the membership bit of `pkey` does not count.
  std::optional<uint16_t> PKeyIndex() const;
  // The place of a GID in the port's table.
  std::optional<uint8_t> GidIndex(const wire::Gid& wanted) const;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_HOST_LOCAL_PORT_H_
