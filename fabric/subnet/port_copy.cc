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

bool IsUp(const mad::PortInfo& info) {
  return info.port_physical_state == mad::PortPhysicalState::kLinkUp;
}

bool IsAs(const NodePort& port, const PortCopy& copy) {
  if (port.info != copy.info) return false;
  for (int i = 1; i < kGuidTableEntries; ++i) {
    if (port.GuidAt(i) != At(copy.gids, i).interface_id) return false;
  }
  for (int i = 0; i < kPKeyTableEntries; ++i) {
    if (port.PKeyAt(i) != At(copy.p_keys, i)) return false;
  }
  return true;
}

}  // namespace

bool TakeCopy(Subnet& subnet, PortId id, const PortCopy& copy) {
  NodePort& port = subnet.port(id);
  if (IsAs(port, copy)) return false;
  const bool goes_down = IsUp(port.info) && !IsUp(copy.info);
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
  // What is on its way is lost then.
  for (NodePort* const end : {&port, &subnet.port(port.peer)}) {
    if (goes_down) ++end->link_epoch;
  }
  return true;
}

}  // namespace ibemu::fabric
