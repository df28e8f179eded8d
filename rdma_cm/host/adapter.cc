#include "rdma_cm/host/adapter.h"

#include "wire/types.h"

namespace ibemu::rdma_cm {

ipoib::Interface* Adapter::interface(int port, uint16_t pkey,
                                     const wire::IpAddress& address) {
  ipoib::Interface* first = nullptr;
  for (ipoib::Interface* const one : interfaces(port)) {
    if (!wire::IsSamePartition(one->pkey(), pkey)) continue;
    if (first == nullptr) first = one;
    if (wire::IsOwnAddress(address, one->addresses())) return one;
  }
  return first;
}

}  // namespace ibemu::rdma_cm
