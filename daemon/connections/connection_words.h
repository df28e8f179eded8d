// The words for what rdma_cm and the communication manager have numbers for.
#ifndef IBEMU_DAEMON_CONNECTIONS_CONNECTION_WORDS_H_
#define IBEMU_DAEMON_CONNECTIONS_CONNECTION_WORDS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "cm/wire/message.h"
#include "rdma_cm/id.h"
#include "rdma_cm/values/port_space.h"

namespace ibemu::daemon {

// "RDMA_PS_TCP", as rdma/rdma_cma.h has it.
std::string_view SpaceText(rdma_cm::PortSpace space);

// "REQ", "SIDR_REP".
std::string_view MessageText(cm::Message message);

// "invalid service ID": why a REJ was sent (IBA vol 1 §12.6.7.2); a number that
// has no meaning is "unknown reason".
std::string_view RejectionText(uint16_t reason);

// "service ID not supported": the status of a SIDR_REP (IBA vol 1 §12.11.2).
std::string_view ResolutionText(uint16_t status);

// The state of an id's connection, or of its service ID resolution: "REQ sent",
// "established", "answered" (a queue pair for datagrams is known), "closed".
std::string_view StateText(const rdma_cm::Id& id);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CONNECTIONS_CONNECTION_WORDS_H_
