#include "fabric/subnet/port_copy.h"

#include <cstddef>

namespace ibemu::fabric {
namespace {

// Returns an entry of a table; zero beyond its end.
template <class Entry>
Entry At(const std::vector<Entry>& table, int index) {
  const auto entry = static_cast<size_t>(index);
  return entry < table.size() ? table[entry] : Entry{};
}

}  // namespace

void TakeCopy(Subnet& subnet, PortId id, const PortCopy& copy) {
  NodePort& port = subnet.port(id);
  port.info = copy.info;
  for (int i = 1; i < kGuidTableEntries; ++i) {
    port.SetGuid(i, At(copy.gids, i).interface_id);
  }
  for (int i = 0; i < kPKeyTableEntries; ++i) {
    port.SetPKey(i, At(copy.p_keys, i));
  }
  mad::PortInfo& peer = subnet.port(port.peer).info;
  peer = copy.info;
  peer.lid = wire::Lid::kUnassigned;
  peer.lmc = 0;
}

}  // namespace ibemu::fabric
