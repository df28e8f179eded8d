#include "daemon/subnet/queue_pair_methods.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/status_macros.h"
#include "daemon/words/port_text.h"
#include "daemon/words/queue_pair_text.h"
#include "fabric/soft_hca/hca.h"
#include "fabric/soft_hca/queue_pair_status.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using fabric::QueuePairStatus, fabric::Subnet;
using nlohmann::json;
using topology::NodeId;

// A place in the list is a node and a number of 24 bits.
constexpr int kQpnBits = 24;

// Which channel adapter has a LID.  The table is made when it is first asked.
class LidOwners {
 public:
  explicit LidOwners(const Subnet& subnet) : subnet_(subnet) {}

  // Returns the node's description; null if nobody has the LID.
  json Find(uint16_t lid) {
    if (owners_.empty()) Fill();
    const auto owner = owners_.find(lid);
    if (owner == owners_.end()) return nullptr;
    return subnet_.node(owner->second).description;
  }

 private:
  void Fill() {
    for (const fabric::NodePort& port : subnet_.ports()) {
      const auto lid = static_cast<uint16_t>(port.info.lid);
      if (lid == 0 || subnet_.node(port.node).is_switch()) continue;
      for (unsigned bits = 0; bits < 1u << port.info.lmc; ++bits) {
        owners_.emplace(static_cast<uint16_t>(lid + bits), port.node);
      }
    }
    owners_.emplace(uint16_t{0}, NodeId{});  // filled, even if nobody has one
  }

  const Subnet& subnet_;
  absl::flat_hash_map<uint16_t, NodeId> owners_;
};

json DescribePeer(const QueuePairStatus& qp, LidOwners& owners) {
  if (qp.peer_qpn == 0) return nullptr;
  return {{"lid", qp.peer_lid},
          {"qpn", qp.peer_qpn},
          {"node", owners.Find(qp.peer_lid)}};
}

// Those that are 0 are left out.
json DescribeCounters(const verbs::HwCounters& counters) {
  json description = json::object();
  for (const verbs::HwCounterName& one : verbs::kHwCounters) {
    const uint64_t value = counters.*one.counter;
    if (value != 0) description[std::string(one.name)] = value;
  }
  return description;
}

json Describe(const fabric::Node& node, const QueuePairStatus& qp,
              LidOwners& owners) {
  json receive;
  if (!qp.shared_receive_queue) {
    receive = {{"size", qp.receive_size}, {"posted", qp.receives}};
  }
  return {{"node", node.description},
          {"guid", GuidText(node.node_guid)},
          {"qpn", qp.number},
          {"type", QpTypeText(qp.type)},
          {"state", verbs::NameOf(qp.state)},
          {"port", qp.port == 0 ? json() : json(qp.port)},
          {"peer", DescribePeer(qp, owners)},
          {"send",
           {{"size", qp.send_size},
            {"posted", qp.sends},
            {"outstanding", qp.outstanding}}},
          {"receive", std::move(receive)},
          {"pid", qp.process},
          {"counters", DescribeCounters(qp.counters)}};
}

}  // namespace

void QueuePairMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("qp.list",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return List(parameters);
                 });
}

absl::StatusOr<json> QueuePairMethods::List(
    control::Parameters& parameters) const {
  const std::string name = parameters.Text("node", "");
  const int64_t from =
      parameters.Number("from", 0, 0, std::numeric_limits<int64_t>::max());
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  const Subnet& subnet = fabric_.subnet();
  auto node = static_cast<size_t>(from >> kQpnBits);
  size_t end = subnet.nodes().size();
  if (!name.empty()) {
    IBEMU_ASSIGN_OR_RETURN(const NodeId id, fabric_.Find(name));
    node = std::max(node, static_cast<size_t>(id));
    end = static_cast<size_t>(id) + 1;
  }
  LidOwners owners(subnet);
  json list = json::array();
  for (; node < end; ++node) {
    const fabric::Hca* const hca =
        fabric_.FindHca(NodeId{static_cast<uint32_t>(node)});
    if (hca == nullptr) continue;
    for (const QueuePairStatus& qp : hca->QueuePairs()) {
      const int64_t place = static_cast<int64_t>(node) << kQpnBits | qp.number;
      if (place < from) continue;
      if (list.size() == kPage) {
        return json{{"queue_pairs", std::move(list)}, {"next", place}};
      }
      list.push_back(Describe(subnet.nodes()[node], qp, owners));
    }
  }
  return json{{"queue_pairs", std::move(list)}, {"next", nullptr}};
}

}  // namespace ibemu::daemon
