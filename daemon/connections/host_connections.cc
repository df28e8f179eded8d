#include "daemon/connections/host_connections.h"

#include <utility>

#include "ipoib/connected/connected_link.h"
#include "mad/device.h"

namespace ibemu::daemon {

HostConnections::Port::Port(Timers& timers, mad::Host& host, int number,
                            verbs::Provider& provider)
    : sa(timers, host, number), members(timers, provider, number, sa) {}

HostConnections::HostConnections(Timers& timers,
                                 std::shared_ptr<mad::Host> host,
                                 verbs::Provider& provider, Random random,
                                 const Addresses& addresses)
    : timers_(timers),
      provider_(provider),
      random_(random),
      host_(std::move(host)),
      cm_(timers, host_, Random(random_.Next()),
          provider.QueryDevice().local_ca_ack_delay),
      services_(cm_) {
  const int first = host_->device().first_port();
  for (size_t i = 0; i < addresses.size(); ++i) {
    const int number = first + static_cast<int>(i);
    ports_.push_back(std::make_unique<Port>(timers, *host_, number, provider));
    if (!addresses[i].empty()) AddInterface(number, 0, addresses[i]);
  }
}

void HostConnections::AddInterface(
    int port, uint16_t partition,
    const std::vector<wire::IpNetwork>& addresses) {
  Port& its = PortAt(port);
  std::unique_ptr<ipoib::Engine>& interface = its.interfaces[partition];
  if (interface != nullptr) return;
  interface = std::make_unique<ipoib::Engine>(
      ipoib::Engine::Parts{.timers = timers_,
                           .host = *host_,
                           .port = port,
                           .provider = provider_,
                           .sa = its.sa,
                           .members = its.members,
                           .partition = partition},
      Random(random_.Next()), addresses);
}

std::vector<ipoib::Interface*> HostConnections::interfaces(int port) {
  std::vector<ipoib::Interface*> all;
  for (const auto& [partition, interface] : PortAt(port).interfaces) {
    all.push_back(interface.get());
  }
  return all;
}

std::unique_ptr<ipoib::Link> HostConnections::MakeConnectedLink(
    int port, uint16_t partition) {
  return std::make_unique<ipoib::ConnectedLink>(
      ipoib::ConnectedLink::Parts{.timers = timers_,
                                  .provider = provider_,
                                  .sa = PortAt(port).sa,
                                  .cm = cm_,
                                  .datagrams = *link(port, partition)},
      Random(random_.Next()));
}

ipoib::Link* HostConnections::link(int port, uint16_t partition) {
  const auto& interfaces = PortAt(port).interfaces;
  const auto its = interfaces.find(partition);
  return its == interfaces.end() ? nullptr : its->second.get();
}

HostConnections::Port& HostConnections::PortAt(int number) {
  return *ports_[static_cast<size_t>(number - host_->device().first_port())];
}

}  // namespace ibemu::daemon
