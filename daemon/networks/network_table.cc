#include "daemon/networks/network_table.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "daemon/networks/switch_name.h"
#include "daemon/networks/tun_device.h"
#include "daemon/words/partition_text.h"
#include "daemon/words/port_text.h"
#include "ipoib/multicast_gid.h"
#include "ipoib/netdev/packet_path.h"
#include "ipoib/wire/hardware_address.h"
#include "mad/port.h"
#include "mad/wire/sa_services.h"
#include "nlohmann/json.hpp"
#include "wire/ip_address.h"
#include "wire/ip_text.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

// "02:00:00:00:00:05"
std::string HardwareText(std::span<const uint8_t> bytes) {
  return absl::StrJoin(bytes, ":", [](std::string* text, uint8_t byte) {
    absl::StrAppendFormat(text, "%02x", byte);
  });
}

// "80:00:00:48:fe:80:..."
std::string HardwareText(const ipoib::HardwareAddress& address) {
  std::array<uint8_t, wire::kBytes<ipoib::HardwareAddress>> bytes{};
  wire::Encode(address, std::as_writable_bytes(std::span(bytes)));
  return HardwareText(bytes);
}

// The hardware address of everybody: RFC 4391 §9.1.1.
ipoib::HardwareAddress EverybodyOf(const ipoib::Link& link) {
  const mad::McMemberRecord* const group = link.broadcast_group();
  return {
      .qpn = 0xffffff,
      .gid = group != nullptr ? group->mgid : ipoib::BroadcastGid(link.pkey())};
}

// Of further partitions, for each port.  They stay, so there is an end to them.
constexpr size_t kMaxInterfaces = 64;

// Of a port: each costs a queue pair, and a group of the fabric.
constexpr size_t kMaxSwitches = 16;

absl::Status TooManySwitches() {
  return absl::ResourceExhaustedError(absl::StrCat(
      "a port is on no more than ", kMaxSwitches, " switches of Ethernet"));
}

absl::Status TooManyInterfaces() {
  return absl::ResourceExhaustedError(
      absl::StrCat("a port has interfaces in no more than ", kMaxInterfaces,
                   " further partitions"));
}

}  // namespace

// What a caller's connection keeps: its end is the network's.
class NetworkTable::Holder {
 public:
  Holder(NetworkTable& table, const Key& key,
         std::shared_ptr<HostNetwork> network)
      : table_(table), key_(key), network_(std::move(network)) {}
  ~Holder() { End(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void End() {
    if (network_ == nullptr) return;
    table_.Remove(key_);
    network_.reset();
  }

 private:
  NetworkTable& table_;
  const Key key_;
  std::shared_ptr<HostNetwork> network_;  // null: it has ended
};

NetworkTable::NetworkTable(Loop& loop, Adapters& adapters,
                           ConnectionTable& connections)
    : loop_(loop), adapters_(adapters), connections_(connections) {}

void NetworkTable::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("network.ports",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Ports(parameters);
                 });
  dispatcher.Add("network.attach", [this](control::Parameters& parameters,
                                          control::Caller& caller) {
    return Attach(parameters, caller);
  });
  dispatcher.Add("network.show",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Show(parameters);
                 });
}

std::vector<NetworkTable::Shown> NetworkTable::In(
    const NetworkNamespace& place) const {
  std::vector<Shown> shown;
  for (const auto& [key, entry] : entries_) {
    const auto network = entry.network.lock();
    if (network == nullptr || network->ended() || entry.place != place) {
      continue;
    }
    shown.push_back({key.adapter, key.partition, key.ethernet_switch,
                     InterfaceOf(key, entry)});
  }
  return shown;
}

// The interface of a further partition is a child of the port's first one.
sysfs::NetworkInterface NetworkTable::InterfaceOf(const Key& key,
                                                  const Entry& entry) const {
  const auto network = entry.network.lock();
  const auto first = entries_.find({key.adapter, key.port});
  const auto parent = key.partition == 0 || first == entries_.end()
                          ? nullptr
                          : first->second.network.lock();
  return {
      .name = network->name(),
      .parent = parent == nullptr ? "" : parent->name(),
      .port = network->port(),
      .is_ethernet = !key.ethernet_switch.empty(),
      .facts = [weak = entry.network, carried = entry.carried,
                connected =
                    entry.connected]() -> std::optional<sysfs::NetworkFacts> {
        const auto network = weak.lock();
        if (network == nullptr || network->ended()) return std::nullopt;
        const ipoib::Carrier& carrier = network->carrier();
        const auto& counters = carrier.counters();
        sysfs::NetworkFacts facts{.mtu = carrier.mtu(),
                                  .carrier = carrier.up(),
                                  .rx_packets = counters.received,
                                  .rx_bytes = counters.received_bytes,
                                  .tx_packets = counters.sent,
                                  .tx_bytes = counters.sent_bytes,
                                  .tx_dropped = counters.dropped};
        if (const auto* const link = std::get_if<0>(&carried)) {
          facts.address = HardwareText((*link)->hardware_address());
          facts.broadcast = HardwareText(EverybodyOf(**link));
          facts.pkey = (*link)->pkey();
          facts.connected = connected;
        } else {
          facts.address = HardwareText(std::get<1>(carried)->mac());
          facts.broadcast = "ff:ff:ff:ff:ff:ff";
        }
        return facts;
      }};
}

json NetworkTable::List() const {
  json list = json::array();
  for (const auto& [key, entry] : entries_) {
    list.push_back(Describe(key, entry));
  }
  return list;
}

json NetworkTable::Describe(const Key& key, const Entry& entry) const {
  json text = {{"pid", entry.pid},
               {"node", adapters_.description(key.adapter)},
               {"port", key.port}};
  const auto network = entry.network.lock();
  if (network == nullptr || network->ended()) return text;
  const ipoib::Carrier& carrier = network->carrier();
  text["name"] = network->name();
  text["up"] = carrier.up();
  text["waits"] = network->waits();
  text["mtu"] = carrier.mtu();
  if (const auto* const link = std::get_if<0>(&entry.carried)) {
    text["p_key"] = absl::StrFormat("0x%04x", (*link)->pkey());
    text["mode"] = entry.connected ? "connected" : "datagram";
    text["addresses"] = wire::NetworkTexts((*link)->own_addresses());
    return text;
  }
  const ipoib::SwitchPort& port = *std::get<1>(entry.carried);
  const auto& counters = carrier.counters();
  text.update({{"ethernet", port.name()},
               {"mac", HardwareText(port.mac())},
               {"addresses", wire::NetworkTexts(AddressesOf(key))},
               {"sent", counters.sent},
               {"flooded", port.flooded()},
               {"received", counters.received},
               {"dropped", counters.dropped},
               {"stations", DescribeStations(port)}});
  return text;
}

json NetworkTable::DescribeStations(const ipoib::SwitchPort& port) const {
  json stations = json::array();
  for (const auto& [mac, station] : port.stations().stations()) {
    stations.push_back(
        {{"mac", HardwareText(mac)},
         {"lid", station.place.lid},
         {"qpn", absl::StrFormat("0x%x", station.place.qpn)},
         {"seconds", absl::ToDoubleSeconds(loop_.Now() - station.heard)}});
  }
  return stations;
}

// Of Ethernet, that of IPv4's link-local network (RFC 3927) with the host's
// number, by its first port: where there is nobody to give addresses, a plain
// user may not, either.
std::vector<wire::IpNetwork> NetworkTable::AddressesOf(const Key& key) const {
  if (key.ethernet_switch.empty()) {
    return connections_.plan().AddressesOf(key.owner());
  }
  const int first = adapters_.device(key.adapter).first_port();
  const auto own = connections_.plan().LinkLocalOf(key.adapter);
  if (!own || key.port != first) return {};
  return {*own};
}

absl::StatusOr<std::vector<AdapterId>> NetworkTable::FindAdapters(
    const std::vector<std::string>& hosts) const {
  std::vector<AdapterId> found;
  for (const std::string& host : hosts) {
    IBEMU_ASSIGN_OR_RETURN(const std::vector<AdapterId> adapters,
                           adapters_.FindHost(host));
    for (const AdapterId adapter : adapters) {
      if (std::ranges::count(found, adapter) == 0) found.push_back(adapter);
    }
  }
  if (!found.empty()) return found;
  IBEMU_ASSIGN_OR_RETURN(const AdapterId adapter, adapters_.Default());
  return std::vector{adapter};
}

// The interfaces that become ib0, ib1 and so on, in this order, each with those
// of the partitions and of the switches after it, of hosts as `attach` takes
// them: [{"node": "0x0002c90300000001", "port": 1}, {"node":
// "0x0002c90300000001", "port": 1, "partition": "8001"}, {"node":
// "0x0002c90300000001", "port": 1, "ethernet": "blue"}, ...].
absl::StatusOr<json> NetworkTable::Ports(
    control::Parameters& parameters) const {
  const std::vector<std::string> hosts = parameters.Texts("hosts");
  const std::vector<std::string> partitions = parameters.Texts("partitions");
  const std::vector<std::string> switches = parameters.Texts("ethernet");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  std::vector<std::string> ethernet;
  for (const std::string& name : switches) {
    IBEMU_RETURN_IF_ERROR(CheckSwitchName(name));
    if (std::ranges::count(ethernet, name) == 0) ethernet.push_back(name);
    if (ethernet.size() > kMaxSwitches) return TooManySwitches();
  }
  std::vector<uint16_t> further;
  for (const std::string& text : partitions) {
    IBEMU_ASSIGN_OR_RETURN(const uint16_t partition, ParsePartition(text));
    if (std::ranges::count(further, partition) == 0) {
      further.push_back(partition);
    }
    if (further.size() > kMaxInterfaces) return TooManyInterfaces();
  }
  IBEMU_ASSIGN_OR_RETURN(const std::vector<AdapterId> found,
                         FindAdapters(hosts));
  json ports = json::array();
  for (const AdapterId adapter : found) {
    IBEMU_RETURN_IF_ERROR(adapters_.CheckShowable(adapter));
    const mad::Device& device = adapters_.device(adapter);
    for (int port = device.first_port(); port <= device.last_port(); ++port) {
      if (connections_.plan().AddressesOf({adapter, port}).empty()) continue;
      IBEMU_RETURN_IF_ERROR(CheckFree({adapter, port}));
      const std::string node = GuidText(adapters_.node_guid(adapter));
      ports.push_back({{"node", node}, {"port", port}});
      for (const uint16_t partition : further) {
        IBEMU_RETURN_IF_ERROR(CheckPartition({adapter, port, partition}));
        ports.push_back({{"node", node},
                         {"port", port},
                         {"partition", PartitionText(partition)}});
      }
      for (const std::string& name : ethernet) {
        IBEMU_RETURN_IF_ERROR(CheckFree(
            {.adapter = adapter, .port = port, .ethernet_switch = name}));
        ports.push_back({{"node", node}, {"port", port}, {"ethernet", name}});
      }
    }
  }
  if (!ports.empty()) return ports;
  return absl::FailedPreconditionError(absl::StrCat(
      "\"", adapters_.description(found.front()),
      "\" has no address: give it one with --addresses (of ibemud, "
      "or of ibemu run without a daemon)"));
}

// Errors: FailedPrecondition, the port can't have an interface there.  What the
// subnet manager will say of a port that it has not brought up yet is not
// known.
absl::Status NetworkTable::CheckPartition(const Key& key) const {
  if (key.partition == 0) return absl::OkStatus();
  const std::string place = absl::StrCat(
      "port ", key.port, " of \"", adapters_.description(key.adapter), "\"");
  const std::string wanted = PartitionText(key.partition);
  const mad::Port& port = adapters_.device(key.adapter).port(key.port);
  if (AddressesOf(key).empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        place, " has no address in partition ", wanted,
        ": give it one with --addresses (of ibemud, or of ibemu run without a "
        "daemon)"));
  }
  if (wire::IsSamePartition(port.PKeyAt(0), key.partition)) {
    return absl::FailedPreconditionError(
        absl::StrCat(place, ": its first interface is in partition ", wanted,
                     " already, so --net without a P_Key gives it"));
  }
  if (port.Info().port_state != mad::PortState::kActive ||
      mad::PKeyIndexOf(port, key.partition)) {
    return absl::OkStatus();
  }
  std::vector<std::string> its;
  for (int i = 0; i < port.PKeyCount(); ++i) {
    if (port.PKeyAt(i) != 0) {
      its.push_back(absl::StrFormat("%04x", port.PKeyAt(i)));
    }
  }
  return absl::FailedPreconditionError(absl::StrCat(
      place, " is not in partition ", wanted, ": its P_Keys are ",
      its.empty() ? "none" : absl::StrJoin(its, ", "),
      "; the subnet manager gives others (of opensm, see partitions.conf)"));
}

absl::StatusOr<NetworkTable::Key> NetworkTable::FindPort(
    control::Parameters& parameters) const {
  const std::string node = parameters.Text("node", "");
  const auto port = static_cast<int>(parameters.Number("port", 1, 1, 255));
  const std::string further = parameters.Text("partition", "");
  const std::string ethernet = parameters.Text("ethernet", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  if (!ethernet.empty()) {
    IBEMU_RETURN_IF_ERROR(CheckSwitchName(ethernet));
    if (!further.empty()) {
      return absl::InvalidArgumentError(
          "\"partition\" and \"ethernet\": an interface has one of them");
    }
  }
  uint16_t partition = 0;
  if (!further.empty()) {
    IBEMU_ASSIGN_OR_RETURN(partition, ParsePartition(further));
  }
  IBEMU_ASSIGN_OR_RETURN(const AdapterId adapter, adapters_.Find(node));
  IBEMU_RETURN_IF_ERROR(adapters_.CheckShowable(adapter));
  const mad::Device& device = adapters_.device(adapter);
  if (port < device.first_port() || port > device.last_port() ||
      connections_.plan().AddressesOf({adapter, port}).empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", adapters_.description(adapter), "\" has no port ",
                     port, " with addresses: \"network.ports\" lists those"));
  }
  return Key{adapter, port, partition, ethernet};
}

absl::Status NetworkTable::CheckFree(const Key& key) const {
  const std::string node = adapters_.description(key.adapter);
  const auto other = entries_.find(key);
  if (other != entries_.end()) {
    return absl::AlreadyExistsError(
        absl::StrCat("the network of \"", node,
                     "\" is that of the \"ibemu run --net\" with "
                     "process ",
                     other->second.pid,
                     ": end that one first, or give another "
                     "--host"));
  }
  return absl::OkStatus();
}

absl::StatusOr<json> NetworkTable::Attach(control::Parameters& parameters,
                                          control::Caller& caller) {
  const bool connected = parameters.Flag("connected", false);
  IBEMU_ASSIGN_OR_RETURN(const Key key, FindPort(parameters));
  if (connected && !key.ethernet_switch.empty()) {
    return absl::InvalidArgumentError(
        "\"connected\" and \"ethernet\": connected mode is one of IPoIB");
  }
  IBEMU_RETURN_IF_ERROR(CheckFree(key));
  IBEMU_RETURN_IF_ERROR(CheckPartition(key));
  const auto kind = key.ethernet_switch.empty() ? TunDevice::Kind::kIp
                                                : TunDevice::Kind::kEthernet;
  IBEMU_ASSIGN_OR_RETURN(TunDevice tun,
                         TunDevice::Adopt(caller.TakeDescriptor(), kind));
  const auto place = NetworkNamespaceOf(caller.pid());
  if (!place) {
    return absl::PermissionDeniedError(
        "the caller's network namespace can't be seen: start ibemud in the "
        "container in which \"ibemu run\" is used");
  }
  std::shared_ptr<HostConnections> connections = connections_.Get(key.adapter);
  if (connections == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", adapters_.description(key.adapter), "\" is no channel adapter"));
  }
  if (key.ethernet_switch.empty() &&
      connections->link(key.port, key.partition) == nullptr &&
      connections->interfaces(key.port).size() > kMaxInterfaces) {
    return TooManyInterfaces();
  }
  if (!key.ethernet_switch.empty() &&
      std::ranges::count_if(entries_, [&key](const auto& entry) {
        return !entry.first.ethernet_switch.empty() &&
               entry.first.adapter == key.adapter &&
               entry.first.port == key.port;
      }) >= static_cast<ptrdiff_t>(kMaxSwitches)) {
    return TooManySwitches();
  }
  Carried carried;
  auto network = MakeNetwork(key, connected, std::move(connections),
                             std::move(tun), carried);
  auto holder = std::make_shared<Holder>(*this, key, network);
  const Entry& entry =
      entries_[key] = {caller.pid(), *place, connected, network, carried};
  IBEMU_RETURN_IF_ERROR(network->Start([weak = std::weak_ptr(holder)] {
    if (const auto ended = weak.lock()) ended->End();
  }));
  json text = Describe(key, entry);
  caller.Keep(std::move(holder));
  return text;
}

std::shared_ptr<HostNetwork> NetworkTable::MakeNetwork(
    const Key& key, bool connected,
    std::shared_ptr<HostConnections> connections, TunDevice tun,
    Carried& carried) {
  return std::make_shared<HostNetwork>(
      loop_, std::move(connections), key.port, std::move(tun),
      [&](HostConnections& its,
          ipoib::Carrier::Device& device) -> std::unique_ptr<ipoib::Carrier> {
        if (!key.ethernet_switch.empty()) {
          auto port = std::make_unique<ipoib::SwitchPort>(
              ipoib::SwitchPort::Parts{.timers = loop_,
                                       .host = its.host(),
                                       .port = key.port,
                                       .provider = its.provider(),
                                       .members = its.members(key.port)},
              key.ethernet_switch, device);
          carried = port.get();
          return port;
        }
        its.AddInterface(key.port, key.partition, AddressesOf(key));
        if (!connected) {
          ipoib::Link* const link = its.link(key.port, key.partition);
          carried = link;
          return std::make_unique<ipoib::PacketPath>(loop_, *link, device);
        }
        auto link = its.MakeConnectedLink(key.port, key.partition);
        carried = link.get();
        return std::make_unique<ipoib::PacketPath>(loop_, std::move(link),
                                                   device);
      });
}

absl::StatusOr<json> NetworkTable::Show(control::Parameters& parameters) const {
  IBEMU_ASSIGN_OR_RETURN(const Key key, FindPort(parameters));
  const auto entry = entries_.find(key);
  if (entry != entries_.end()) return Describe(key, entry->second);
  return absl::NotFoundError(absl::StrCat(
      "\"", adapters_.description(key.adapter), "\" has no network on port ",
      key.port,
      key.partition == 0
          ? ""
          : absl::StrCat(" in partition ", PartitionText(key.partition)),
      key.ethernet_switch.empty()
          ? ""
          : absl::StrCat(" on switch \"", key.ethernet_switch, "\""),
      ": \"ibemu run --net\" gives it one"));
}

void NetworkTable::Remove(const Key& key) { entries_.erase(key); }

}  // namespace ibemu::daemon
