// HostConnections: all that rdma_cm uses of one host.
#ifndef IBEMU_DAEMON_CONNECTIONS_HOST_CONNECTIONS_H_
#define IBEMU_DAEMON_CONNECTIONS_HOST_CONNECTIONS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/random.h"
#include "base/timers.h"
#include "cm/connection_manager.h"
#include "ipoib/engine.h"
#include "mad/host.h"
#include "mad/sa/multicast_members.h"
#include "mad/sa/sa_client.h"
#include "rdma_cm/host/adapter.h"
#include "rdma_cm/host/id_table.h"
#include "rdma_cm/host/service_table.h"
#include "verbs/provider.h"
#include "wire/ip_address.h"

namespace ibemu::daemon {

// A HostConnections is what a kernel has of ib_cm, ib_sa, ib_ipoib and rdma_cm
// for one channel adapter.
class HostConnections final : public rdma_cm::Adapter {
 public:
  // The addresses of each port, the first port's first.
  using Addresses = std::vector<std::vector<wire::IpNetwork>>;

  // `timers` and `provider` must outlive this.
  HostConnections(Timers& timers, std::shared_ptr<mad::Host> host,
                  verbs::Provider& provider, Random random,
                  const Addresses& addresses);

  mad::Host& host() override { return *host_; }
  verbs::Provider& provider() { return provider_; }
  cm::ConnectionManager& cm() override { return cm_; }
  mad::SaClient& sa(int port) override { return PortAt(port).sa; }
  mad::MulticastMembers& members(int port) override {
    return PortAt(port).members;
  }
  std::vector<ipoib::Interface*> interfaces(int port) override;
  rdma_cm::ServiceTable& services() override { return services_; }
  rdma_cm::IdTable& ids() override { return ids_; }

  // Gives a port an interface in one more partition, unless it has it; it stays
  // as long as this.
  void AddInterface(int port, uint16_t partition,
                    const std::vector<wire::IpNetwork>& addresses);
  // What carries the packets of an interface; null: the port has none in that
  // partition.  0 is its first interface.
  ipoib::Link* link(int port, uint16_t partition);
  // Makes connected mode over that link, which nobody else may use meanwhile.
  // REQUIRES: the port has the link.
  std::unique_ptr<ipoib::Link> MakeConnectedLink(int port, uint16_t partition);

 private:
  struct Port {
    Port(Timers& timers, mad::Host& host, int number,
         verbs::Provider& provider);

    mad::SaClient sa;
    mad::MulticastMembers members;
    // By partition; empty: without addresses.
    std::map<uint16_t, std::unique_ptr<ipoib::Engine>> interfaces;
  };

  Port& PortAt(int number);

  Timers& timers_;
  verbs::Provider& provider_;
  Random random_;
  const std::shared_ptr<mad::Host> host_;
  std::vector<std::unique_ptr<Port>> ports_;
  cm::ConnectionManager cm_;
  rdma_cm::ServiceTable services_;
  rdma_cm::IdTable ids_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CONNECTIONS_HOST_CONNECTIONS_H_
