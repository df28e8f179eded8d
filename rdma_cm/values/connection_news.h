// ConnectionNews: a step in the life of a connection, for those who watch.
#ifndef IBEMU_RDMA_CM_VALUES_CONNECTION_NEWS_H_
#define IBEMU_RDMA_CM_VALUES_CONNECTION_NEWS_H_

#include <cstdint>
#include <optional>

#include "cm/cm_id.h"
#include "cm/state.h"
#include "cm/wire/message.h"

namespace ibemu::rdma_cm {

// A step in the life of a connection, or of a service ID resolution, as the id
// at one of its ends comes to know it.
struct ConnectionNews {
  enum class State : uint8_t {
    kNoAddress,     // the address could not be resolved
    kNoPath,        // the route could not
    kAsked,         // a REQ or SIDR_REQ went out
    kEstablished,   // of datagrams: the queue pair was told
    kRejected,      // by a REJ; of datagrams: no queue pair was told
    kDisconnected,  // by a DREQ
    kAbandoned,     // the id ended before there was an answer
    kTimedOut,      // an answer did not come
    kStale,         // the peer has forgotten the connection
  };
  State state{};
  bool by_peer = false;   // who did it
  uint16_t reason = 0;    // kRejected: of the REJ, or status of the SIDR_REP
  cm::Message awaited{};  // kTimedOut: the answer
  int status = 0;         // kNoAddress, kNoPath: as in the Event
};

// Returns what an event of the communication manager tells; nothing if it is no
// step.  `has_disconnected`: the id's owner did, by a call.
std::optional<ConnectionNews> NewsOf(const cm::CmEvent& event,
                                     bool has_disconnected);

// Returns what the communication manager tells the peer when the id of a
// connection in this state ends; nothing if there is nothing to tell.
std::optional<ConnectionNews> NewsOfEnd(cm::State state);

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_VALUES_CONNECTION_NEWS_H_
