#include "daemon/connections/host_connections.h"

#include <utility>

#include "mad/device.h"

namespace ibemu::daemon {

HostConnections::Port::Port(Timers& timers, mad::Host& host, int number,
                            verbs::Provider& provider)
    : sa(timers, host, number), members(timers, provider, number, sa) {}

HostConnections::HostConnections(Timers& timers,
                                 std::shared_ptr<mad::Host> host,
                                 verbs::Provider& provider, Random random,
                                 const Addresses& addresses)
    : host_(std::move(host)),
      cm_(timers, host_, Random(random.Next()),
          provider.QueryDevice().local_ca_ack_delay),
      services_(cm_) {
  const int first = host_->device().first_port();
  for (size_t i = 0; i < addresses.size(); ++i) {
    const int number = first + static_cast<int>(i);
    ports_.push_back(std::make_unique<Port>(timers, *host_, number, provider));
    if (addresses[i].empty()) continue;
    Port& port = *ports_.back();
    port.interface = std::make_unique<ipoib::Engine>(
        ipoib::Engine::Parts{.timers = timers,
                             .host = *host_,
                             .port = number,
                             .provider = provider,
                             .sa = port.sa,
                             .members = port.members},
        Random(random.Next()), addresses[i]);
  }
}

HostConnections::Port& HostConnections::PortAt(int number) {
  return *ports_[static_cast<size_t>(number - host_->device().first_port())];
}

}  // namespace ibemu::daemon
