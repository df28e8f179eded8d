#include "rdma_cm/local_port.h"

#include "mad/sa/pkey_index.h"

namespace ibemu::rdma_cm {

std::optional<uint16_t> LocalPort::PKeyIndex() const {
  return mad::PKeyIndexOf(port(), pkey);
}

std::optional<uint8_t> LocalPort::GidIndex(const wire::Gid& wanted) const {
  const mad::Port& table = port();
  for (int i = 0; i < table.GidCount(); ++i) {
    if (table.GidAt(i) == wanted) return static_cast<uint8_t>(i);
  }
  return std::nullopt;
}

}  // namespace ibemu::rdma_cm
