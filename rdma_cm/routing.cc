#include "rdma_cm/routing.h"

#include <algorithm>

namespace ibemu::rdma_cm {
namespace {

// The address that `port` has for talking to `address`: itself, or one in its
// network.
std::optional<IpRoute> RouteBy(const LocalPort& port,
                               const wire::IpAddress& address) {
  const ipoib::Interface* const interface = port.interface;
  if (interface == nullptr) return std::nullopt;
  const auto& networks = interface->addresses();
  for (const wire::IpNetwork& network : networks) {
    if (network.address == address) return IpRoute{port, address, true};
  }
  std::optional<IpRoute> found;
  for (const wire::IpNetwork& network : networks) {
    if (!network.Contains(address)) continue;
    if (found && network.prefix <= found->prefix) continue;
    found = IpRoute{port, network.address, false, network.prefix};
  }
  return found;
}

}  // namespace

std::vector<LocalPort> Routing::Ports() const {
  std::vector<LocalPort> ports;
  for (const std::shared_ptr<Adapter>& adapter : adapters_.adapters()) {
    const mad::Device& device = adapter->host().device();
    for (int i = device.first_port(); i <= device.last_port(); ++i) {
      const auto interfaces = adapter->interfaces(i);
      for (ipoib::Interface* const interface : interfaces) {
        ports.push_back({.adapter = adapter,
                         .number = i,
                         .gid = interface->gid(),
                         .pkey = interface->pkey(),
                         .interface = interface});
      }
      if (!interfaces.empty()) continue;
      const mad::Port& port = adapter->host().device().port(i);
      ports.push_back({.adapter = adapter,
                       .number = i,
                       .gid = port.GidAt(0),
                       .pkey = port.PKeyAt(0)});
    }
  }
  return ports;
}

std::optional<LocalPort> Routing::PortOf(const wire::IpAddress& address) const {
  for (LocalPort& port : Ports()) {
    const std::optional<IpRoute> route = RouteBy(port, address);
    if (route && route->to_itself) return port;
  }
  return std::nullopt;
}

std::optional<LocalPort> Routing::PortOf(const wire::Gid& gid,
                                         uint16_t pkey) const {
  for (LocalPort& port : Ports()) {
    if (!port.GidIndex(gid)) continue;
    port.gid = gid;
    port.pkey = pkey;
    port.interface = port.adapter->interface(port.number, pkey);
    return port;
  }
  return std::nullopt;
}

Outcome<IpRoute> Routing::RouteTo(
    const wire::IpAddress& address,
    const std::optional<LocalPort>& source) const {
  const std::vector<LocalPort> ports =
      source ? std::vector<LocalPort>{*source} : Ports();
  std::optional<IpRoute> found;
  for (const LocalPort& port : ports) {
    std::optional<IpRoute> route = RouteBy(port, address);
    if (route && route->to_itself) return *std::move(route);
    if (route && (!found || route->prefix > found->prefix)) {
      found = std::move(route);
    }
  }
  if (!found) return Refusal::kUnreachable;
  return *std::move(found);
}

std::optional<LocalPort> Routing::PortTo(const wire::Gid& gid,
                                         uint16_t pkey) const {
  std::optional<LocalPort> found;
  for (LocalPort& port : Ports()) {
    port.pkey = pkey;
    port.interface = port.adapter->interface(port.number, pkey);
    if (!port.PKeyIndex()) continue;
    if (port.GidIndex(gid)) {
      port.gid = gid;
      return port;
    }
    if (!found && port.gid.prefix == gid.prefix && port.IsActive()) {
      found = port;
    }
  }
  return found;
}

std::optional<LocalPort> Routing::AnyPort() const {
  const std::vector<LocalPort> ports = Ports();
  if (ports.empty()) return std::nullopt;
  const auto active = std::ranges::find_if(ports, &LocalPort::IsActive);
  return active != ports.end() ? *active : ports.front();
}

}  // namespace ibemu::rdma_cm
