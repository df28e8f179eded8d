// ServiceTable: the ports of one host that are taken, and the ids that listen
// there.
#ifndef IBEMU_RDMA_CM_HOST_SERVICE_TABLE_H_
#define IBEMU_RDMA_CM_HOST_SERVICE_TABLE_H_

#include <cstdint>
#include <memory>

#include "cm/connection_manager.h"
#include "rdma_cm/host/port_table.h"
#include "rdma_cm/values/refusal.h"

namespace ibemu::rdma_cm {

// A ServiceListener is an id that listens, at one adapter of it.
class ServiceListener {
 public:
  // Whether the request is for this id: its header and its adapter's port fit.
  virtual bool IsFor(const cm::Arrived& arrived) const = 0;
  // Takes a request that is for it.
  virtual void OnRequest(std::unique_ptr<cm::CmId> id,
                         const cm::Arrived& arrived) = 0;

 protected:
  ~ServiceListener() = default;
};

// A ServiceTable has the ports of one host, and lets several ids listen for one
// service ID of its communication manager: at different addresses, or for
// different families.  All views of the host share it.
class ServiceTable {
 public:
  // An Entry is one id that listens, until it is destroyed; it may outlive the
  // ServiceTable.
  class Entry {
   public:
    virtual ~Entry() = default;
  };

  // REQUIRES: `cm` outlives this.
  explicit ServiceTable(cm::ConnectionManager& cm);
  ~ServiceTable();
  ServiceTable(const ServiceTable&) = delete;
  ServiceTable& operator=(const ServiceTable&) = delete;

  PortTable& ports() { return ports_; }

  // Adds an id that listens.  Of several that a request is for the first one
  // gets it.  Returns null if somebody else listens for the service ID.
  std::unique_ptr<Entry> Add(uint64_t service_id, ServiceListener& listener);

 private:
  class Service;
  class ListenerEntry;
  struct State;

  PortTable ports_;
  std::shared_ptr<State> state_;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_HOST_SERVICE_TABLE_H_
