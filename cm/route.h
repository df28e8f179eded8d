// Route: a path as the port that it begins at sees it.
#ifndef IBEMU_CM_ROUTE_H_
#define IBEMU_CM_ROUTE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "mad/address.h"
#include "mad/device.h"
#include "mad/wire/sa_paths.h"
#include "verbs/qp_attributes.h"

namespace ibemu::cm {

// A Route is the way to a peer: out of which port, to which address.
struct Route {
  int port = 0;
  uint32_t high_tid = 0;    // of the port's agent
  mad::AddressVector to{};  // the peer's QP1
  uint8_t static_rate = 0;
  uint8_t mtu = 0;               // 1 = 256 ... 5 = 4096 bytes
  uint8_t packet_life_time = 0;  // 4.096 us * 2^n

  bool operator==(const Route&) const = default;
};

// Returns the way that `path` is from here; its high_tid is 0. A GRH is used if
// the path has a hop limit. Errors: InvalidArgument, no port has the path's
// SGID, or its P_Key.
absl::StatusOr<Route> RouteOf(mad::Device& device, const mad::PathRecord& path);

// Returns the route's address handle in verbs' terms.
verbs::AddressAttributes AddressOf(const Route& route);

}  // namespace ibemu::cm

#endif  // IBEMU_CM_ROUTE_H_
