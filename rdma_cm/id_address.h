// IdAddress: the address at which an id is bound, and the way from there to its
// destination.
#ifndef IBEMU_RDMA_CM_ID_ADDRESS_H_
#define IBEMU_RDMA_CM_ID_ADDRESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cm/cm_id.h"
#include "ipoib/interface.h"
#include "rdma_cm/host/adapter.h"
#include "rdma_cm/host/local_port.h"
#include "rdma_cm/port_binding.h"
#include "rdma_cm/values/ip_header.h"
#include "rdma_cm/values/outcome.h"
#include "rdma_cm/values/port_space.h"
#include "rdma_cm/values/refusal.h"
#include "rdma_cm/values/socket_address.h"
#include "rdma_cm/view_parts.h"
#include "wire/types.h"

namespace ibemu::rdma_cm {

// An IdAddress is the address part of an id: both its addresses, the port of an
// adapter that they led to, and its claim to a number of the port space.  Which
// call is allowed when is the id's to know.
class IdAddress {
 public:
  // REQUIRES: `parts` outlives this.
  IdAddress(ViewParts& parts, PortSpace space);
  ~IdAddress();
  IdAddress(const IdAddress&) = delete;
  IdAddress& operator=(const IdAddress&) = delete;

  const SocketAddress& source() const { return source_; }
  const SocketAddress& destination() const { return destination_; }
  // Empty until an adapter is known.
  const std::optional<LocalPort>& port() const { return port_; }
  // REQUIRES: bound.
  const PortClaim& claim() const { return binding_->claim(); }
  // The service ID that an address stands for (rdma_get_service_id()).
  uint64_t ServiceIdOf(const SocketAddress& address) const;

  // Takes the port that a request came to, and its addresses as `addresses` has
  // them or, if those are none of IP, as its path does.
  void TakeOfRequest(LocalPort port, const cm::Arrived& arrived,
                     const RequestAddresses& addresses);

  // Binds to an address.  Who has no `low_ports` may not have those below 1024.
  // What is refused changes nothing.
  Refusal Bind(const SocketAddress& address, bool low_ports);

  // Finds the port that leads to `destination`, and the neighbour's GID, with
  // which `done` is called later.  REQUIRES: bound.
  Refusal Resolve(const SocketAddress& destination, absl::Duration timeout,
                  std::function<void(const absl::StatusOr<wire::Gid>&)> done);

  // Before it listens: nobody else may have its port.  REQUIRES: bound.
  Refusal TakeAlone();

  // The adapters that it is bound at: one, or all.
  std::vector<std::shared_ptr<Adapter>> adapters() const;

  // RDMA_OPTION_ID_REUSEADDR and RDMA_OPTION_ID_AFONLY.
  void SetReuseAddress(bool value);
  void SetOnlyFamily(bool value);

  // An adapter of the view came or went.  Returns whether it is one that this
  // is bound at.
  bool OnAdapterAdded(const std::shared_ptr<Adapter>& adapter);
  // Returns whether it is the only one.
  bool OnAdapterRemoved(const std::shared_ptr<Adapter>& adapter);

 private:
  Refusal FindDevice();
  Outcome<PortSpace> SpaceOfPort();
  Refusal ClaimPort(bool low_ports);
  Refusal ResolveToItself();
  Refusal ResolveIb();
  Refusal ResolveMulticast();
  Refusal ResolveIp(absl::Duration timeout);
  void SetSource(const SocketAddress& source);
  void ResolvedSoon(const wire::Gid& gid);
  void Finish(const absl::StatusOr<wire::Gid>& gid);

  ViewParts& parts_;
  const PortSpace space_;
  SocketAddress source_{};
  SocketAddress destination_{};
  std::optional<LocalPort> port_;
  std::optional<PortBinding> binding_;
  bool reuse_address_ = false;
  std::optional<bool> only_family_;  // as the program has set it

  std::function<void(const absl::StatusOr<wire::Gid>&)> done_;
  std::unique_ptr<ipoib::Resolution> resolution_;
  // Points to null after the end, for tasks that are still to run.
  std::shared_ptr<IdAddress*> self_ = std::make_shared<IdAddress*>(this);
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_ID_ADDRESS_H_
