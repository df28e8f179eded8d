#include "daemon/remote_node/join_fabric.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "control/client.h"
#include "daemon/adapters/fabric_adapters.h"
#include "daemon/remote_node/meet_host.h"
#include "daemon/remote_node/remote_cable.h"
#include "daemon/words/port_text.h"
#include "fabric/fabric.h"
#include "mad/wire/node_info.h"
#include "mad/wire/smp.h"
#include "nlohmann/json.hpp"
#include "topology/rate_text.h"
#include "topology/topology.h"
#include "wire/ip_text.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using topology::NodeId;

// Of a daemon that may be stopped, or far away, to say who it is when it is
// joined again: ibemu-peers waits five seconds for an answer, and one for a
// connection.
constexpr absl::Duration kPatience = absl::Seconds(7);
// To plug a host in again, and to ask for a meeting with another one.
constexpr absl::Duration kPlugsWithin = absl::Seconds(20);
constexpr absl::Duration kAsksToMeetWithin = absl::Seconds(2);
// So long the end of this daemon may wait for either.
constexpr absl::Duration kEndsWithin = absl::Seconds(2);
// That find all hosts taken which were free just before.
constexpr int kMaxRounds = 16;
// For an answer of a host's agents; so long this daemon serves nobody.
constexpr absl::Duration kAnswersWithin = absl::Seconds(10);

absl::Status Unreadable() {
  return absl::UnavailableError(
      "the answer of the subnet's daemon can't be read");
}

// Asks the node's own agents.
template <class Attribute>
absl::StatusOr<Attribute> Ask(RemoteCables& cables) {
  mad::Arrival request;
  wire::Encode(mad::Smp{.method = mad::Method::kGet,
                        .attr_id = Attribute::kId,
                        .m_key = cables.cable(1).Info().m_key},
               request.mad);
  mad::MadBytes reply{};
  const mad::LocalVerdict verdict =
      cables.cable(1).ProcessLocal(request, reply);
  const auto smp = wire::Decode<mad::Smp>(reply);
  if (verdict != mad::LocalVerdict::kReply ||
      smp.status != mad::MadStatus::kOk) {
    return absl::UnavailableError("the node's agents do not answer");
  }
  return wire::Decode<Attribute>(smp.data);
}

// `name`: by which the user asks for the host.
absl::StatusOr<topology::NodeSpec> SpecOf(RemoteCables& cables,
                                          const std::string& name) {
  IBEMU_ASSIGN_OR_RETURN(const auto info, Ask<mad::NodeInfo>(cables));
  IBEMU_ASSIGN_OR_RETURN(const auto described,
                         Ask<mad::NodeDescription>(cables));
  topology::NodeSpec spec;
  const std::string text(described.text.begin(), described.text.end());
  spec.description = text.substr(0, text.find('\0'));
  spec.name = name;
  spec.node_guid = info.node_guid;
  spec.system_image_guid = info.system_image_guid;
  spec.vendor_id = info.vendor_id;
  spec.device_id = info.device_id;
  spec.port_count = cables.port_count();
  for (int port = 1; port <= cables.port_count(); ++port) {
    spec.port_guids.push_back(
        wire::Guid{cables.cable(port).GidAt(0).interface_id});
  }
  return spec;
}

// Adds the host, the node that stands for the rest of the subnet, and the
// cables between them.
void AddTo(topology::Topology& topology, topology::NodeSpec host) {
  const auto index = static_cast<uint32_t>(topology.nodes.size());
  topology::NodeSpec beyond;
  beyond.description = absl::StrCat("beyond ", host.description);
  beyond.name = absl::StrCat("beyond-", host.name);
  // No adapter's: the OUI of their first bytes is a group's.
  constexpr uint64_t kOfNobody = 0xff'ff'ff'0000000000;
  beyond.node_guid = wire::Guid{kOfNobody + (uint64_t{index} << 16)};
  beyond.port_count = host.port_count;
  for (int port = 1; port <= host.port_count; ++port) {
    beyond.port_guids.push_back(wire::Guid{
        static_cast<uint64_t>(beyond.node_guid) + static_cast<uint64_t>(port)});
    topology.links.push_back({.a = NodeId{index},
                              .b = NodeId{index + 1},
                              .port_a = static_cast<uint8_t>(port),
                              .port_b = static_cast<uint8_t>(port),
                              .rate = topology::DefaultLinkRate()});
  }
  topology.nodes.push_back(std::move(host));
  topology.nodes.push_back(std::move(beyond));
}

// Asks for the one adapter of a host: {"guid": "0x...", "link_local": ...,
// "seed_elsewhere": "123", "ports": [{"port": 1, "addresses": [...]}, ...]}.
// There may be no seed.
absl::StatusOr<json> AdapterOf(control::Client& client,
                               const std::string& host) {
  IBEMU_ASSIGN_OR_RETURN(const json status,
                         client.Call("node.status", {{"node", host}}));
  const json adapters = status.value("adapters", json::array());
  if (adapters.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", host, "\" has ", adapters.size(),
                     " adapters: name each by its GUID"));
  }
  json adapter = adapters.front();
  bool good = adapter.is_object() && adapter.contains("guid") &&
              adapter["guid"].is_string() && adapter.contains("ports") &&
              adapter["ports"].is_array();
  for (const json& port : good ? adapter["ports"] : json::array()) {
    good = good && port.is_object() && port.contains("port") &&
           port["port"].is_number_integer() && port.contains("addresses") &&
           port["addresses"].is_array();
  }
  if (!good) return Unreadable();
  return adapter;
}

// Checks that there are all hosts, before the link of the first goes down.
absl::Status CheckHosts(control::Client& client,
                        const std::vector<std::string>& hosts) {
  std::set<std::string> guids;
  std::vector<std::string> mistakes;
  for (const std::string& host : hosts) {
    std::string guid = host;
    if (host != kAnyHost) {
      const absl::StatusOr<json> adapter = AdapterOf(client, host);
      if (absl::IsInvalidArgument(adapter.status()) ||
          absl::IsNotFound(adapter.status())) {
        mistakes.emplace_back(adapter.status().message());
        continue;
      }
      IBEMU_RETURN_IF_ERROR(adapter.status());
      guid = (*adapter)["guid"];
    }
    if (!guids.insert(guid).second) {
      mistakes.push_back(absl::StrCat("\"", host, "\" was named before"));
    }
  }
  if (mistakes.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(mistakes, "\n"));
}

// A host, and by which name it was found.
struct Found {
  std::string name;
  std::unique_ptr<RemoteCables> cables;
};

absl::StatusOr<Found> PlugInto(const Authority& authority,
                               const std::string& host) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client, authority.Connect());
  IBEMU_ASSIGN_OR_RETURN(
      std::unique_ptr<RemoteCables> cables,
      RemoteCables::Plug(std::move(client), host, kAnswersWithin,
                         RemoteCables::Side::kDaemon));
  return Found{host, std::move(cables)};
}

// Others may take the same at the same time.
absl::StatusOr<Found> PlugIntoAny(const Authority& authority) {
  for (int round = 0; round < kMaxRounds; ++round) {
    IBEMU_ASSIGN_OR_RETURN(control::Client client, authority.Connect());
    IBEMU_ASSIGN_OR_RETURN(const json free,
                           client.Call("node_link.free", json::object()));
    if (!free.is_array() || free.empty()) break;
    for (const json& guid : free) {
      if (!guid.is_string()) return Unreadable();
      absl::StatusOr<Found> found =
          PlugInto(authority, guid.get<std::string>());
      if (found.ok() || !absl::IsAlreadyExists(found.status())) return found;
    }
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "--host=", kAnyHost, ": no host of \"", authority.name(),
      "\" is free: end a run, or start it with a larger topology"));
}

// The same of a daemon that was gone: the node is that of the same GUID and as
// many ports, or its links would go down for nothing.
JoinedHost::Plugged PlugIntoAgain(const Authority& authority,
                                  const std::string& guid, size_t ports) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client, authority.Connect(kPatience));
  IBEMU_ASSIGN_OR_RETURN(const json adapter, AdapterOf(client, guid));
  const size_t has = adapter["ports"].size();
  if (has != ports) {
    return absl::FailedPreconditionError(
        absl::StrCat(guid, " of \"", authority.name(), "\" has ", has,
                     " ports, not ", ports));
  }
  return RemoteCables::Plug(std::move(client), guid, kAnswersWithin,
                            RemoteCables::Side::kDaemon);
}

// Does one thing after the other, beside the loop.
std::unique_ptr<WorkerPool> OneWorker(Loop& loop, absl::Duration patience) {
  return std::make_unique<WorkerPool>(
      loop, [&loop](auto task) { loop.Post(std::move(task)); },
      WorkerPool::Limits{
          .threads = 1, .patience = patience, .at_end = kEndsWithin});
}

// What plugs a host in again, beside the loop.
JoinedHost::PlugIn PlugInBeside(WorkerPool& workers,
                                std::shared_ptr<const Authority> authority,
                                const topology::NodeSpec& host) {
  return [&workers, authority = std::move(authority), guid = host.node_guid,
          ports = static_cast<size_t>(host.port_count)](
             absl::AnyInvocable<void(JoinedHost::Plugged)> done) {
    const auto plugged = std::make_shared<JoinedHost::Plugged>(
        absl::UnavailableError("the daemon does not answer"));
    workers.Run(
        ClientId{static_cast<uint64_t>(guid)},
        [plugged, authority, text = GuidText(guid), ports] {
          *plugged = PlugIntoAgain(*authority, text, ports);
        },
        [plugged, done = std::move(done)](WorkerPool::Outcome outcome) mutable {
          if (outcome == WorkerPool::Outcome::kDone) {
            return done(std::move(*plugged));
          }
          done(absl::DeadlineExceededError("the daemon does not answer"));
        });
  };
}

std::optional<wire::IpNetwork> NetworkIn(const json& text) {
  return text.is_string() ? wire::ParseNetwork(text.get<std::string>())
                          : std::nullopt;
}

std::optional<uint64_t> SeedIn(const json& adapter) {
  const json text = adapter.value("seed_elsewhere", json());
  uint64_t seed = 0;
  if (!text.is_string() || !absl::SimpleAtoi(text.get<std::string>(), &seed)) {
    return std::nullopt;
  }
  return seed;
}

// The other hosts of the subnet are known by their names.
absl::Status AddOthers(control::Client& client, AddressPlan& plan) {
  IBEMU_ASSIGN_OR_RETURN(const json names,
                         client.Call("node.names", json::object()));
  for (const json& host : names) {
    if (!host.is_object() || !host.contains("address") ||
        !host["address"].is_string() || !host.contains("node") ||
        !host["node"].is_string()) {
      return Unreadable();
    }
    const std::optional<wire::IpNetwork> address = wire::ParseNetwork(
        absl::StrCat(host["address"].get<std::string>(), "/32"));
    if (address && !plan.PortWith(address->address)) {
      plan.AddElsewhere(address->address,
                        NetworkIn(host.value("link_local", json())),
                        host["node"].get<std::string>());
    }
  }
  return absl::OkStatus();
}

// Gives a host the addresses that it has at the authority.
absl::Status AddAddresses(const json& described, int port_count,
                          AdapterId adapter, AddressPlan& plan) {
  if (const auto link_local =
          NetworkIn(described.value("link_local", json()))) {
    plan.SetLinkLocal(adapter, *link_local);
  }
  for (const json& port : described["ports"]) {
    const AddressPlan::Owner owner{adapter, port["port"].get<int>()};
    if (owner.port < 1 || owner.port > port_count) return Unreadable();
    for (const json& text : port["addresses"]) {
      const std::optional<wire::IpNetwork> network = NetworkIn(text);
      if (network) IBEMU_RETURN_IF_ERROR(plan.Add(owner, *network));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<JoinedFabric> JoinFabric(
    Loop& loop, const std::shared_ptr<const Authority>& authority,
    const std::vector<std::string>& hosts, uint64_t drawn_seed) {
  std::vector<std::unique_ptr<RemoteCables>> plugged;
  topology::Topology topology;
  JoinedFabric joined;
  IBEMU_ASSIGN_OR_RETURN(control::Client client, authority->Connect());
  IBEMU_RETURN_IF_ERROR(CheckHosts(client, hosts));
  // Those that are named come first, or one of them might be any.
  std::vector<std::string> in_order = hosts;
  std::stable_partition(
      in_order.begin(), in_order.end(),
      [](const std::string& host) { return host != kAnyHost; });
  for (const std::string& host : in_order) {
    const AdapterId adapter = FabricAdapters::IdOf(
        NodeId{static_cast<uint32_t>(topology.nodes.size())});
    IBEMU_ASSIGN_OR_RETURN(Found found, host == kAnyHost
                                            ? PlugIntoAny(*authority)
                                            : PlugInto(*authority, host));
    IBEMU_ASSIGN_OR_RETURN(const json described, AdapterOf(client, found.name));
    IBEMU_RETURN_IF_ERROR(AddAddresses(described, found.cables->port_count(),
                                       adapter, joined.addresses));
    if (plugged.empty()) joined.seed = SeedIn(described).value_or(drawn_seed);
    IBEMU_ASSIGN_OR_RETURN(topology::NodeSpec spec,
                           SpecOf(*found.cables, host));
    plugged.push_back(std::move(found.cables));
    AddTo(topology, std::move(spec));
  }
  IBEMU_RETURN_IF_ERROR(AddOthers(client, joined.addresses));
  joined.fabric = std::make_unique<fabric::Fabric>(
      topology, loop, fabric::FabricOptions{.seed = joined.seed});
  joined.plugging = OneWorker(loop, kPlugsWithin);
  joined.meeting = OneWorker(loop, kAsksToMeetWithin);
  const auto all = std::make_shared<std::vector<JoinedHost*>>();
  for (uint32_t i = 0; i < plugged.size(); ++i) {
    JoinedHost::Ways ways;
    ways.plug_in = PlugInBeside(*joined.plugging, authority,
                                topology.nodes[size_t{2} * i]);
    ways.meet = MeetThrough(loop, *joined.meeting, authority);
    ways.ask_for_packets =
        AskForPacketsThrough(loop, *joined.meeting, authority);
    auto& host = joined.hosts.emplace_back(std::make_unique<JoinedHost>(
        loop, *joined.fabric, NodeId{2 * i}, NodeId{2 * i + 1}, std::move(ways),
        std::move(plugged[i])));
    all->push_back(host.get());
    // A daemon that one has waited for in vain, the others need not wait for.
    host->OnSilence([all] {
      for (JoinedHost* const each : *all) {
        each->GiveUp(
            absl::UnavailableError("the daemon that has its fabric is silent"));
      }
    });
    IBEMU_RETURN_IF_ERROR(host->Start());
  }
  return joined;
}

}  // namespace ibemu::daemon
