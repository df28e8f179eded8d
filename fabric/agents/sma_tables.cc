#include "fabric/agents/sma_tables.h"

#include <algorithm>
#include <memory>

#include "mad/wire/subnet_tables.h"

namespace ibemu::fabric {

using mad::MadStatus;

namespace {

// Returns the port that a table's modifier names, or null if there is none.  A
// CA has separate tables for each port, and answers for the port that was
// asked.
NodePort* NamedPort(const SmaRequest& request, uint32_t number) {
  if (!request.node.is_switch()) return &request.port;
  if (!request.subnet.has_port(request.node, static_cast<int>(number))) {
    return nullptr;
  }
  return &request.subnet.port(
      request.subnet.port_id(request.node, static_cast<int>(number)));
}

SlToVlTable VlsOf(const NodePort& port, int ingress) {
  SlToVlTable vls;
  for (size_t sl = 0; sl < vls.size(); ++sl) {
    vls[sl] = port.VlOf(static_cast<uint8_t>(sl), ingress);
  }
  return vls;
}

void SetVls(const SmaRequest& request, NodePort& port, int first_ingress,
            int last_ingress, const SlToVlTable& vls) {
  auto& tables = port.Tables().sl_to_vl;
  if (tables.empty()) {
    const auto count = static_cast<size_t>(
        request.node.is_switch() ? request.node.port_count + 1 : 1);
    const SlToVlTable current = VlsOf(port, 0);
    tables.assign(count, current);
  }
  for (int i = first_ingress; i <= last_ingress; ++i) {
    tables[static_cast<size_t>(i)] = vls;
  }
}

}  // namespace

// GUIDInfo, §14.2.5.5.  The first GUID is the port's own and cannot be set.
MadStatus SmaGuidInfo(const SmaRequest& request) {
  constexpr uint32_t kBlockEntries = 8;
  NodePort& port = request.port;
  if (request.modifier >= port.info.guid_cap / kBlockEntries) {
    return MadStatus::kInvalidField;
  }
  const int first = static_cast<int>(request.modifier * kBlockEntries);
  mad::GuidInfo table;
  if (request.set) {
    table = request.Wanted<mad::GuidInfo>();
    for (int i = 0; i < static_cast<int>(kBlockEntries); ++i) {
      if (first + i != 0) {
        port.SetGuid(first + i, table.guids[static_cast<size_t>(i)]);
      }
    }
    request.events.OnPortChange(request.id());
  }
  for (int i = 0; i < static_cast<int>(kBlockEntries); ++i) {
    table.guids[static_cast<size_t>(i)] = port.GuidAt(first + i);
  }
  return request.Answer(table);
}

// P_KeyTable, §14.2.5.7.
MadStatus SmaPKeyTable(const SmaRequest& request) {
  constexpr int kBlockEntries = 32;
  const int block = static_cast<int>(request.modifier & 0xffff);
  NodePort* const port = NamedPort(request, request.modifier >> 16);
  if (port == nullptr ||
      block >= request.node.p_key_entries() / kBlockEntries) {
    return MadStatus::kInvalidField;
  }
  const int first = block * kBlockEntries;
  mad::PKeyTable table;
  if (request.set) {
    table = request.Wanted<mad::PKeyTable>();
    for (int i = 0; i < kBlockEntries; ++i) {
      port->SetPKey(first + i, table.p_keys[static_cast<size_t>(i)]);
    }
    if (port == &request.port) request.events.OnPortChange(request.id());
  }
  for (int i = 0; i < kBlockEntries; ++i) {
    table.p_keys[static_cast<size_t>(i)] = port->PKeyAt(first + i);
  }
  return request.Answer(table);
}

// SLtoVLMappingTable, §14.2.5.8.  A switch has a table for each pair of ports.
// In a Set, bit 17 of the modifier stands for all ingress ports and bit 16 for
// all egress ports.
MadStatus SmaSlToVlMappingTable(const SmaRequest& request) {
  constexpr uint32_t kAllIngress = 1 << 17, kAllEgress = 1 << 16;
  const Node& node = request.node;
  const uint32_t modifier = node.is_switch() ? request.modifier : 0;
  const bool all_ingress = request.set && (modifier & kAllIngress) != 0;
  const bool all_egress = request.set && (modifier & kAllEgress) != 0;
  const int ingress = static_cast<int>(modifier >> 8 & 0xff);
  NodePort* const egress = NamedPort(request, modifier & 0xff);
  if (egress == nullptr || ingress > node.port_count) {
    return MadStatus::kInvalidField;
  }
  if (request.set) {
    const auto vls = request.Wanted<mad::SlToVlMappingTable>().vls;
    const int first = all_ingress ? 0 : ingress;
    const int last = all_ingress ? node.port_count : ingress;
    if (all_egress) {
      for (NodePort& port : request.subnet.PortsOf(node)) {
        SetVls(request, port, first, last, vls);
      }
    } else {
      SetVls(request, *egress, first, last, vls);
    }
  }
  return request.Answer(
      mad::SlToVlMappingTable{.vls = VlsOf(*egress, ingress)});
}

// VLArbitrationTable, §14.2.5.9.  Entries beyond the port's capability are not
// stored.
MadStatus SmaVlArbitrationTable(const SmaRequest& request) {
  constexpr unsigned kBlockEntries = 32;
  const uint32_t block = (request.modifier >> 16) - 1;  // in vl_arbitration
  NodePort* const port = NamedPort(request, request.modifier & 0xffff);
  if (port == nullptr || block >= 4) return MadStatus::kInvalidField;
  const unsigned cap = block < 2 ? port->info.vl_arbitration_low_cap
                                 : port->info.vl_arbitration_high_cap;
  const unsigned first = block % 2 * kBlockEntries;
  if (cap <= first) return MadStatus::kInvalidField;

  if (request.set) {
    auto table = request.Wanted<mad::VlArbitrationTable>();
    for (unsigned i = cap - first; i < kBlockEntries; ++i) {
      table.entries[i] = {};
    }
    auto& stored = port->Tables().vl_arbitration[block];
    if (stored == nullptr) stored = std::make_unique<VlArbitrationBlock>();
    wire::Encode(table, std::as_writable_bytes(std::span(*stored)));
  }
  return request.Answer(port->VlArbitration(block));
}

}  // namespace ibemu::fabric
