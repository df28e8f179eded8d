#include "daemon/subnet/partition_methods.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "daemon/words/port_text.h"
#include "fabric/sa/partitions.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using fabric::kFullMemberBit;
using fabric::NodePort;
using fabric::Subnet;
using nlohmann::json;

constexpr uint16_t kDefaultPartition = fabric::kDefaultPKey & ~kFullMemberBit;

struct Partition {
  std::vector<const NodePort*> full, limited;
  size_t size() const { return full.size() + limited.size(); }
};

json DescribePorts(const Subnet& subnet,
                   const std::vector<const NodePort*>& ports) {
  json all = json::array();
  for (const NodePort* port : ports) {
    all.push_back({GuidText(subnet.node(port->node).node_guid), port->number});
  }
  return all;
}

}  // namespace

void PartitionMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("partitions",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Show(parameters);
                 });
}

absl::StatusOr<json> PartitionMethods::Show(
    control::Parameters& parameters) const {
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  const Subnet& subnet = fabric_.subnet();
  std::map<uint16_t, Partition> partitions;
  for (const NodePort& port : subnet.ports()) {
    // One without tables is in the default partition alone.
    if (!port.tables || subnet.node(port.node).is_switch()) continue;
    for (const uint16_t p_key : port.tables->p_keys) {
      const uint16_t partition = p_key & ~kFullMemberBit;
      if (partition == 0 || partition == kDefaultPartition) continue;
      Partition& found = partitions[partition];
      ((p_key & kFullMemberBit) != 0 ? found.full : found.limited)
          .push_back(&port);
    }
  }
  std::vector<std::pair<uint16_t, const Partition*>> largest;
  largest.reserve(partitions.size());
  for (const auto& [partition, ports] : partitions) {
    largest.emplace_back(partition, &ports);
  }
  std::ranges::stable_sort(
      largest, std::ranges::greater(),
      [](const auto& each) { return each.second->size(); });
  const size_t listed = std::min(largest.size(), kMax);
  json result = {{"partitions", json::array()},
                 {"others", largest.size() - listed}};
  largest.resize(listed);
  for (const auto& [partition, ports] : largest) {
    result["partitions"].push_back(
        {{"p_key", absl::StrFormat("0x%04x", partition | kFullMemberBit)},
         {"full", DescribePorts(subnet, ports->full)},
         {"limited", DescribePorts(subnet, ports->limited)}});
  }
  return result;
}

}  // namespace ibemu::daemon
