// PortTable: the ports that ids of one host are bound to.
#ifndef IBEMU_RDMA_CM_HOST_PORT_TABLE_H_
#define IBEMU_RDMA_CM_HOST_PORT_TABLE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "rdma_cm/values/port_space.h"
#include "rdma_cm/values/refusal.h"
#include "rdma_cm/values/socket_address.h"

namespace ibemu::rdma_cm {

// The claim of an id to a port, and the options that let others have it too.
struct PortClaim {
  PortSpace space{};
  SocketAddress address{};     // with the port
  bool reuse_address = false;  // RDMA_OPTION_ID_REUSEADDR
  bool only_family = false;    // RDMA_OPTION_ID_AFONLY

  bool operator==(const PortClaim&) const = default;
};

// A PortTable holds the claims of all ids of a host, in all its views.  Ids of
// several tables (a view of several hosts) make the same claim in each.
class PortTable {
 public:
  // A Place is one claim in the table, until it is destroyed; it may outlive
  // the table.
  class Place;

  PortTable();
  ~PortTable();
  PortTable(const PortTable&) = delete;
  PortTable& operator=(const PortTable&) = delete;

  // Whether the claim fits in with the others, except that of `own`:
  //   kNoSuchAddress  one of the two addresses is a wildcard
  //   kAddressInUse   both are the same
  Refusal Check(const PortClaim& claim, const Place* own = nullptr) const;

  // Whether a port that nobody asked for may be given to the claim: nobody has
  // it, or at another address.
  bool MayGive(const PortClaim& claim) const;

  // Adds a claim that was checked.
  std::unique_ptr<Place> Add(const PortClaim& claim);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// A Place may get another address for its claim (claim()); it stays under the
// port space and the port with which it was added.
class PortTable::Place {
 public:
  Place(const std::shared_ptr<State>& state, const PortClaim& claim);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  PortClaim& claim() { return claim_; }
  const PortClaim& claim() const { return claim_; }

 private:
  const std::weak_ptr<State> state_;
  const std::pair<PortSpace, uint16_t> key_;  // stays, whatever the address
  PortClaim claim_;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_HOST_PORT_TABLE_H_
