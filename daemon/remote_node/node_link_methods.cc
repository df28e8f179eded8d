#include "daemon/remote_node/node_link_methods.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/secret.h"
#include "base/status_macros.h"
#include "control/bounded_stream.h"
#include "daemon/adapters/fabric_adapters.h"
#include "daemon/remote_node/fabric_cable.h"
#include "daemon/remote_node/remote_cable.h"
#include "daemon/words/port_text.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
using nlohmann::json;

NodeLinkMethods::NodeLinkMethods(Loop& loop, fabric::Fabric& fabric,
                                 HostTable& hosts, bool exact)
    : loop_(loop), fabric_(fabric), hosts_(hosts), meeting_point_(loop) {
  if (!exact) leases_.emplace(loop, fabric, &DrawSecret);
}

NodeLinkMethods::~NodeLinkMethods() { loop_.Cancel(reserved_timer_); }

void NodeLinkMethods::Reserve(const std::vector<topology::NodeId>& nodes,
                              absl::Duration time) {
  reserved_.insert(nodes.begin(), nodes.end());
  reserved_timer_ = loop_.RunAfter(time, [this] { reserved_.clear(); });
}

void NodeLinkMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("node_link.attach", [this](control::Parameters& parameters,
                                            control::Caller& caller) {
    return Attach(parameters, caller);
  });
  dispatcher.Add("node_link.packets", [this](control::Parameters& parameters,
                                             control::Caller& caller) {
    return ConnectPackets(parameters, caller);
  });
  dispatcher.Add("node_link.free",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Free(parameters);
                 });
  meeting_point_.AddTo(dispatcher);
}

absl::StatusOr<json> NodeLinkMethods::Attach(control::Parameters& parameters,
                                             control::Caller& caller) {
  const std::string name = parameters.Text("node", "");
  const std::string peer = parameters.Text("peer", "");
  const std::string leases = parameters.Text("leases", "");
  const bool trains = parameters.Flag("trains", false);
  const bool encrypts = parameters.Flag("encrypts", false);
  const std::string packets = parameters.Text("packets", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  if (!packets.empty()) IBEMU_RETURN_IF_ERROR(CheckSecretText(packets));
  UniqueFd socket = caller.TakeDescriptor();
  IBEMU_RETURN_IF_ERROR(
      control::CheckStreamSocket(socket.get(), "node_link.attach"));
  IBEMU_ASSIGN_OR_RETURN(const topology::NodeId node, fabric_.Find(name));
  if (hosts_.FindUsed(FabricAdapters::IdOf(node)) != nullptr) {
    return absl::AlreadyExistsError(absl::StrCat(
        "\"", fabric_.subnet().node(node).description,
        "\" is the host of an \"ibemu run\": end that one first (\"ibemu "
        "status\" lists them), or choose another"));
  }
  IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<FabricCables> cables,
                         FabricCables::Plug(fabric_, node));
  auto host = std::make_unique<NodeLinkHost>(loop_, std::move(cables),
                                             std::move(socket));
  if (leases_ && !leases.empty() &&
      leases.size() <= NodeLinkLease::kLongestAddress) {
    host->TakeLeases(
        *leases_, {.address = leases == RemoteCables::kLeasesHere ? "" : leases,
                   .encrypts = encrypts});
  }
  if (trains) host->ServeDaemon();
  IBEMU_RETURN_IF_ERROR(host->Start());
  // One that was there before has ended, or the node would not be free.
  attached_[node] = {std::move(host), peer, packets};
  reserved_.erase(node);
  offered_.erase(node);
  return json::object();
}

absl::StatusOr<json> NodeLinkMethods::ConnectPackets(
    control::Parameters& parameters, control::Caller& caller) {
  const std::string token = parameters.Text("token", "");
  const int64_t number =
      parameters.Number("number", 1, 1, std::numeric_limits<uint32_t>::max());
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  UniqueFd socket = caller.TakeDescriptor();
  IBEMU_RETURN_IF_ERROR(control::CheckStreamSocket(
      socket.get(), "node_link.packets", {AF_UNIX, AF_INET, AF_INET6}));
  for (auto& [node, attached] : attached_) {
    if (token.empty() || attached.packets != token) continue;
    IBEMU_RETURN_IF_ERROR(attached.host->ConnectPackets(
        std::move(socket), static_cast<uint32_t>(number)));
    return json::object();
  }
  return absl::NotFoundError("no adapter expects this connection");
}

absl::StatusOr<json> NodeLinkMethods::Free(control::Parameters& parameters) {
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  const absl::Time now = loop_.Now();
  std::erase_if(offered_, [now](const auto& entry) {
    return entry.second + kOfferedFor <= now;
  });
  std::vector<topology::NodeId> free, offered;
  const fabric::Subnet& subnet = fabric_.subnet();
  for (uint32_t i = 0; i < fabric_.node_count(); ++i) {
    const topology::NodeId id{i};
    if (reserved_.contains(id) || !subnet.node(id).plugged ||
        !fabric_.CheckRemote(id).ok() ||
        hosts_.FindUsed(FabricAdapters::IdOf(id)) != nullptr) {
      continue;
    }
    (offered_.contains(id) ? offered : free).push_back(id);
    if (free.size() == kMaxFree) break;
  }
  // Those that were offered last come last.
  std::ranges::stable_sort(
      offered, {}, [this](topology::NodeId id) { return offered_.at(id); });
  free.insert(free.end(), offered.begin(), offered.end());
  if (free.size() > kMaxFree) free.resize(kMaxFree);
  if (!free.empty()) offered_.insert_or_assign(free.front(), now);
  json guids = json::array();
  for (const topology::NodeId id : free) {
    guids.push_back(GuidText(subnet.node(id).node_guid));
  }
  return guids;
}

std::vector<JoinedNode> NodeLinkMethods::Joined() const {
  std::vector<JoinedNode> all;
  for (const auto& [node, attached] : attached_) {
    if (attached.host->ended()) continue;
    const LinkLatency& latency = attached.host->latency();
    all.push_back(
        {.node = fabric_.subnet().node(node).description,
         .peer = attached.peer,
         .round_trip = latency.round_trip(),
         .behind = latency.Behind(loop_.Now()),
         .leases = attached.host->leases(),
         .has_packet_connection = attached.host->has_packet_connection()});
  }
  return all;
}

json NodeLinkMethods::List() const {
  json all = json::array();
  for (const JoinedNode& each : Joined()) {
    all.push_back(
        {{"node", each.node},
         {"peer", each.peer},
         {"round_trip_seconds",
          each.round_trip ? json(absl::ToDoubleSeconds(*each.round_trip))
                          : json()},
         {"behind_seconds", absl::ToDoubleSeconds(each.behind)},
         {"leases", each.leases},
         {"packet_connection", each.has_packet_connection}});
  }
  return all;
}

}  // namespace ibemu::daemon
