// Adapter: one RDMA device of a host, as rdma_cm uses it.
#ifndef IBEMU_RDMA_CM_HOST_ADAPTER_H_
#define IBEMU_RDMA_CM_HOST_ADAPTER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "cm/connection_manager.h"
#include "ipoib/interface.h"
#include "mad/host.h"
#include "mad/sa/multicast_members.h"
#include "mad/sa/sa_client.h"
#include "rdma_cm/host/id_table.h"
#include "rdma_cm/host/service_table.h"
#include "wire/ip_address.h"

namespace ibemu::rdma_cm {

// An Adapter has what rdma_cm needs of one device: its management datagrams,
// its communication manager, and for each port subnet administration and the
// IPoIB interfaces.  All of its users share it; it lives while one of them
// does.
class Adapter {
 public:
  virtual ~Adapter() = default;

  virtual mad::Host& host() = 0;
  virtual cm::ConnectionManager& cm() = 0;
  virtual mad::SaClient& sa(int port) = 0;
  virtual mad::MulticastMembers& members(int port) = 0;
  // The interfaces of a port: that of its first P_Key, then those of further
  // partitions.  Empty if the port has no addresses.  They live as long as the
  // adapter.
  virtual std::vector<ipoib::Interface*> interfaces(int port) = 0;
  // That of a partition; null: the port has none there.  Of several, that which
  // has `address`, or else the first (ipoib_get_net_dev_by_params()).
  ipoib::Interface* interface(int port, uint16_t pkey,
                              const wire::IpAddress& address = {});
  // The ports of the host and who listens, over cm().
  virtual ServiceTable& services() = 0;
  // The ids that listen or are connected by it.
  virtual IdTable& ids() = 0;
};

// The adapters of one view, in the order of its slots.
class AdapterList {
 public:
  class Listener {
   public:
    // An adapter was plugged in, or pulled out (the Adapter is still there).
    virtual void OnAdded(const std::shared_ptr<Adapter>& adapter) = 0;
    virtual void OnRemoved(const std::shared_ptr<Adapter>& adapter) = 0;

   protected:
    ~Listener() = default;
  };

  virtual ~AdapterList() = default;
  virtual std::vector<std::shared_ptr<Adapter>> adapters() = 0;
  virtual void AddListener(Listener& listener) = 0;
  virtual void RemoveListener(Listener& listener) = 0;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_HOST_ADAPTER_H_
