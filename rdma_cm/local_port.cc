#include "rdma_cm/local_port.h"

namespace ibemu::rdma_cm {

std::optional<uint16_t> LocalPort::PKeyIndex() const {
  constexpr unsigned kFullMember = 0x8000;
  constexpr unsigned kPartition = 0x7fff;
  std::optional<uint16_t> found;
  const mad::Port& table = port();
  for (int i = 0; i < table.PKeyCount(); ++i) {
    const unsigned entry = table.PKeyAt(i);
    if (entry == 0 || ((entry ^ pkey) & kPartition) != 0) continue;
    if ((entry & kFullMember) != 0) return static_cast<uint16_t>(i);
    if (!found) found = static_cast<uint16_t>(i);
  }
  return found;
}

std::optional<uint8_t> LocalPort::GidIndex(const wire::Gid& wanted) const {
  const mad::Port& table = port();
  for (int i = 0; i < table.GidCount(); ++i) {
    if (table.GidAt(i) == wanted) return static_cast<uint8_t>(i);
  }
  return std::nullopt;
}

}  // namespace ibemu::rdma_cm
