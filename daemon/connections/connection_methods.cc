#include "daemon/connections/connection_methods.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "daemon/connections/connection_words.h"
#include "daemon/words/port_text.h"
#include "nlohmann/json.hpp"
#include "wire/ip_text.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using rdma_cm::Id;
using Ids = std::vector<const Id*>;

json NumberOrNull(int64_t number) {
  return number == 0 ? json() : json(number);
}

auto Place(const Id& id) {
  return std::tuple(id.space(), id.source().port(), AddressOf(id.source()),
                    AddressOf(id.destination()), id.destination().port(),
                    id.qp_num());
}

// The service that an id offers, or that it is for.
json Service(const Id& id) {
  return {{"space", SpaceText(id.space())},
          {"service_id", absl::StrFormat("0x%016x", ServiceIdOf(id))},
          {"pid", NumberOrNull(id.process())}};
}

json Listener(const Id& id) {
  json listener = Service(id);
  listener["address"] = AddressOf(id.source());
  listener["port"] = id.source().port();
  return listener;
}

std::string_view StateOf(const ipoib::Interface& interface) {
  return interface.up() ? "up" : "down";
}

// Adds the state of a port's first interface, and those of further partitions.
void AddInterfaces(const std::vector<ipoib::Interface*>& interfaces,
                   json& port) {
  if (interfaces.empty()) return;
  port["interface"] = StateOf(*interfaces.front());
  for (size_t i = 1; i < interfaces.size(); ++i) {
    port["partitions"].push_back(
        {{"p_key", absl::StrFormat("0x%04x", interfaces[i]->pkey())},
         {"interface", StateOf(*interfaces[i])},
         {"addresses", wire::NetworkTexts(interfaces[i]->addresses())}});
  }
}

}  // namespace

void ConnectionMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("node.status",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Status(parameters);
                 });
  dispatcher.Add("node.names",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Names(parameters);
                 });
}

absl::StatusOr<json> ConnectionMethods::Names(
    control::Parameters& parameters) const {
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  json names = json::array();
  for (const AddressPlan::HostAddress& host :
       table_.plan().Hosts(AddressPlan::kMaxNames)) {
    if (!host.elsewhere.empty()) continue;
    names.push_back({{"node", table_.adapters().description(host.adapter)},
                     {"address", AddressText(host.address)},
                     {"link_local", LinkLocal(host.adapter)}});
  }
  return names;
}

json ConnectionMethods::LinkLocal(AdapterId adapter) const {
  const auto own = table_.plan().LinkLocalOf(adapter);
  if (!own) return {};
  return wire::NetworkTexts(std::span(&*own, 1)).front();
}

absl::StatusOr<json> ConnectionMethods::Status(
    control::Parameters& parameters) const {
  const std::string name = parameters.Text("node", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  Adapters& adapters = table_.adapters();
  IBEMU_ASSIGN_OR_RETURN(const std::vector<AdapterId> found,
                         adapters.FindHost(name));
  json described = json::array();
  for (const AdapterId adapter : found) {
    if (adapters.device(adapter).type() != mad::NodeType::kChannelAdapter) {
      return absl::InvalidArgumentError(absl::StrCat(
          adapters.description(adapter),
          ": only channel adapters have addresses and connections"));
    }
    described.push_back(Describe(adapter));
  }
  return json{{"adapters", std::move(described)}};
}

json ConnectionMethods::Describe(AdapterId adapter) const {
  Adapters& adapters = table_.adapters();
  Ids ids;
  if (rdma_cm::Adapter* const used = table_.Find(adapter)) {
    ids = used->ids().ids();
  }
  std::ranges::sort(ids, {}, [](const Id* id) { return Place(*id); });
  size_t listener_count = 0;
  size_t connection_count = 0;
  json listeners = json::array();
  json connections = json::array();
  for (const Id* const id : ids) {
    if (id->state() == Id::State::kListen) {
      if (++listener_count <= kMax) listeners.push_back(Listener(*id));
    } else {
      if (++connection_count <= kMax) connections.push_back(Connection(*id));
    }
  }
  return {{"node", adapters.description(adapter)},
          {"guid", GuidText(adapters.node_guid(adapter))},
          {"ports", Ports(adapter)},
          {"link_local", LinkLocal(adapter)},
          {"seed_elsewhere", absl::StrCat(table_.SeedElsewhere(adapter))},
          {"listeners", std::move(listeners)},
          {"listener_count", listener_count},
          {"connections", std::move(connections)},
          {"connection_count", connection_count}};
}

json ConnectionMethods::Ports(AdapterId adapter) const {
  const mad::Device& device = table_.adapters().device(adapter);
  rdma_cm::Adapter* const used = table_.Find(adapter);
  json ports = json::array();
  for (int number = device.first_port(); number <= device.last_port();
       ++number) {
    json port = {
        {"port", number},
        {"addresses",
         wire::NetworkTexts(table_.plan().AddressesOf({adapter, number}))},
        {"interface", json()}};
    if (used != nullptr) AddInterfaces(used->interfaces(number), port);
    ports.push_back(std::move(port));
  }
  return ports;
}

json ConnectionMethods::Connection(const Id& id) const {
  json connection = Service(id);
  connection["state"] = StateText(id);
  connection["asked_by"] = id.was_asked() ? "remote" : "local";
  connection["local"] = ends_.Local(id);
  connection["local"]["qpn"] = NumberOrNull(id.qp_num());
  connection["remote"] = ends_.Remote(id);
  connection["remote"]["qpn"] = NumberOrNull(id.remote_qp_num());
  return connection;
}

}  // namespace ibemu::daemon
