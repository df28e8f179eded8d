#include "rdma_cm/host/local_port.h"

namespace ibemu::rdma_cm {

std::optional<uint16_t> LocalPort::PKeyIndex() const {
  return mad::PKeyIndexOf(port(), pkey);
}

std::optional<uint8_t> LocalPort::GidIndex(const wire::Gid& wanted) const {
  return mad::GidIndexOf(port(), wanted);
}

}  // namespace ibemu::rdma_cm
