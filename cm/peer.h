// Peer and Asker: the other end of a connection, and of a question for a
// service ID.
#ifndef IBEMU_CM_PEER_H_
#define IBEMU_CM_PEER_H_

#include <cstdint>

#include "wire/types.h"

namespace ibemu::cm {

// The other end of a connection: its communication ID and queue pair, each of
// which its CA gives to one connection at a time.
struct Peer {
  wire::Guid ca{};
  uint32_t comm_id = 0;
  uint32_t qpn = 0;

  bool operator==(const Peer&) const = default;
};

// An Asker has asked for the queue pair behind a service ID, and has no answer
// yet.
struct Asker {
  wire::Lid lid{};
  uint32_t request_id = 0;

  bool operator==(const Asker&) const = default;
};

}  // namespace ibemu::cm

#endif  // IBEMU_CM_PEER_H_
