#include "daemon/subnet/queue_pair_methods.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "daemon/words/port_text.h"
#include "daemon/words/queue_pair_text.h"
#include "fabric/soft_hca/hca.h"
#include "fabric/soft_hca/queue_pair.h"
#include "fabric/soft_hca/queue_pair_status.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"
#include "wire/ip_text.h"
#include "wire/rnr_timer.h"

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
  const auto process = ProcessNumber(qp.process);
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
          {"pid", process ? json(*process) : json()},
          {"counters", DescribeCounters(qp.counters)}};
}

json DescribeAddress(const verbs::AddressAttributes& address) {
  json description = {{"dlid", address.dlid},
                      {"sl", address.sl},
                      {"src_path_bits", address.src_path_bits},
                      {"static_rate", address.static_rate},
                      {"grh", nullptr}};
  if (address.is_global != 0) {
    const auto dgid = std::to_array(address.grh.dgid);
    description["grh"] = {
        {"dgid", wire::AddressText(wire::IpAddress::Ipv6(dgid))},
        {"sgid_index", address.grh.sgid_index},
        {"flow_label", address.grh.flow_label},
        {"traffic_class", address.grh.traffic_class},
        {"hop_limit", address.grh.hop_limit}};
  }
  return description;
}

// Those that the type has, as ibv_query_qp() gives them.
json DescribeAttributes(verbs::QpType type,
                        const verbs::QpAttributes& attributes) {
  json description = {{"pkey_index", attributes.pkey_index},
                      {"sq_psn", attributes.sq_psn}};
  if (type == verbs::QpType::kUd) {
    description["qkey"] = attributes.qkey;
    return description;
  }
  description.update(
      {{"qp_access_flags", AccessWords(attributes.qp_access_flags)},
       {"path_mtu", attributes.path_mtu == 0 ? 0 : 128 << attributes.path_mtu},
       {"rq_psn", attributes.rq_psn},
       {"ah_attr", DescribeAddress(attributes.ah_attr)},
       {"path_mig_state",
        verbs::NameOf(verbs::MigrationState{attributes.path_mig_state})}});
  if (attributes.alt_port_num != 0) {
    description.update(
        {{"alt_ah_attr", DescribeAddress(attributes.alt_ah_attr)},
         {"alt_port_num", attributes.alt_port_num},
         {"alt_pkey_index", attributes.alt_pkey_index},
         {"alt_timeout", attributes.alt_timeout}});
  }
  if (type == verbs::QpType::kRc) {
    // IBA vol 1 §9.7.6.1.3: 4.096 us * 2^timeout, and 0 is none.
    const int64_t timeout = int64_t{4096} << (attributes.timeout & 0x1f);
    description.update(
        {{"timeout", attributes.timeout},
         {"timeout_ns", attributes.timeout == 0 ? json() : json(timeout)},
         {"min_rnr_timer_ns",
          1000 * wire::RnrMicroseconds(attributes.min_rnr_timer)},
         {"retry_cnt", attributes.retry_cnt},
         {"rnr_retry", attributes.rnr_retry},
         {"min_rnr_timer", attributes.min_rnr_timer},
         {"max_rd_atomic", attributes.max_rd_atomic},
         {"max_dest_rd_atomic", attributes.max_dest_rd_atomic}});
  }
  return description;
}

}  // namespace

void QueuePairMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("qp.list",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return List(parameters);
                 });
  dispatcher.Add("qp.show",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Show(parameters);
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

absl::StatusOr<json> QueuePairMethods::Show(
    control::Parameters& parameters) const {
  const std::string name = parameters.Text("node", "");
  const int64_t number = parameters.Number("qpn", 0, 0, (1 << kQpnBits) - 1);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const NodeId id, fabric_.Find(name));
  const auto qpn = static_cast<uint32_t>(number);
  const fabric::Hca* const hca = fabric_.FindHca(id);
  const fabric::QueuePair* const qp =
      hca == nullptr ? nullptr : hca->FindQueuePair(qpn);
  const Subnet& subnet = fabric_.subnet();
  if (qp == nullptr) {
    return absl::NotFoundError(absl::StrFormat(
        "%s has no queue pair %#x", subnet.node(id).description, qpn));
  }
  LidOwners owners(subnet);
  json description = Describe(subnet.node(id), qp->Status(), owners);
  description["attributes"] = DescribeAttributes(qp->type(), qp->Query());
  return description;
}

}  // namespace ibemu::daemon
