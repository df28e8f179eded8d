// Listener: the listening half of an id.
#ifndef IBEMU_RDMA_CM_LISTENER_H_
#define IBEMU_RDMA_CM_LISTENER_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "rdma_cm/host/adapter.h"
#include "rdma_cm/host/id_table.h"
#include "rdma_cm/host/service_table.h"
#include "rdma_cm/values/ip_header.h"
#include "rdma_cm/values/refusal.h"
#include "rdma_cm/values/socket_address.h"

namespace ibemu::rdma_cm {

class Id;

// A Listener listens for one service ID at each adapter that it was given, and
// picks the requests that are for its id (cma_ib_id_from_event()).
class Listener {
 public:
  struct Terms {
    uint64_t service_id = 0;
    SocketAddress address{};
    bool only_family = false;  // no requests of other families
    uint8_t qp_type = 0;       // as CREATE_ID had it
    int port = 0;              // of the adapter; 0: any
  };
  // `id` is listed in the adapters' tables.  `addresses` are those in the
  // request.
  using Take = std::function<void(
      const std::shared_ptr<Adapter>& adapter, std::unique_ptr<cm::CmId> id,
      const cm::Arrived& arrived, const RequestAddresses& addresses)>;

  Listener(const Id& id, Terms terms, Take take);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Errors: kAddressInUse, somebody else listens there.
  Refusal Add(const std::shared_ptr<Adapter>& adapter);
  void Remove(const std::shared_ptr<Adapter>& adapter);

 private:
  class Part;

  bool IsFor(Adapter& adapter, const cm::Arrived& arrived,
             const RequestAddresses& addresses) const;

  const Id& id_;
  const Terms terms_;
  const Take take_;
  std::list<Part> parts_;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_LISTENER_H_
