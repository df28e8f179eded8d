// Interface: the IPoIB interface of one port (ib0), as address resolution sees
// it.
#ifndef IBEMU_IPOIB_INTERFACE_H_
#define IBEMU_IPOIB_INTERFACE_H_

#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "mad/wire/sa_services.h"
#include "wire/ip_address.h"
#include "wire/types.h"

namespace ibemu::ipoib {

// A Resolution is one outstanding question for a neighbour.  Destroying it
// cancels it.
class Resolution {
 public:
  virtual ~Resolution() = default;
};

// An Interface is what users of a port's IP addresses need of it: rdma_cm and
// the table of connections.  It joins its broadcast group by itself.
class Interface {
 public:
  virtual ~Interface() = default;

  // The addresses of this interface with the networks that they are in.
  virtual const std::vector<wire::IpNetwork>& addresses() const = 0;

  // The port's GID 0 and the partition of the interface.
  virtual wire::Gid gid() const = 0;
  virtual uint16_t pkey() const = 0;

  // Whether the broadcast group is joined and the port is active.
  virtual bool up() const = 0;

  // The record of the broadcast group; null until it was joined.
  virtual const mad::McMemberRecord* broadcast_group() const = 0;

  // Asks for the GID of the neighbour with `address`, by ARP or ND, until
  // `timeout` has passed.  `done` is called once, never before this returns,
  // and may destroy the resolution.
  //
  // Errors: DeadlineExceeded, nobody answered; ResourceExhausted, too many
  // others are asked for; Unavailable, the device is gone.
  virtual std::unique_ptr<Resolution> Resolve(
      const wire::IpAddress& address, absl::Duration timeout,
      absl::AnyInvocable<void(absl::StatusOr<wire::Gid>)> done) = 0;

  // Calls `task` once the interface is up, or when it has existed for
  // `patience`: on Linux ib0 has joined long before a program starts.  A port
  // without a link is not waited for.  `task` is never called before this
  // returns; it is destroyed uncalled if the interface ends first.
  virtual void WhenUp(absl::Duration patience,
                      absl::AnyInvocable<void()> task) = 0;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_INTERFACE_H_
