#include "rdma_cm/host/adapter.h"

#include <algorithm>

#include "wire/types.h"

namespace ibemu::rdma_cm {

ipoib::Interface* Adapter::interface(int port, uint16_t pkey) {
  const auto all = interfaces(port);
  const auto its =
      std::ranges::find_if(all, [pkey](const ipoib::Interface* one) {
        return wire::IsSamePartition(one->pkey(), pkey);
      });
  return its == all.end() ? nullptr : *its;
}

}  // namespace ibemu::rdma_cm
