// ReceivedReq(): a REQ, as the host that received it reads it.
#ifndef IBEMU_CM_RECEIVED_REQ_H_
#define IBEMU_CM_RECEIVED_REQ_H_

#include <cstdint>

#include "cm/cm_id.h"
#include "cm/wire/req.h"
#include "mad/address.h"
#include "mad/agent.h"
#include "mad/wire/sa_paths.h"
#include "verbs/qp_attributes.h"
#include "wire/types.h"

namespace ibemu::cm {

// Returns the address to which the answer to `message` goes.
mad::AddressVector ReplyTo(const mad::IncomingMessage& message);

// Returns the REQ in `mad`.  What it says of a way through a router is replaced
// by how the MAD came here: cm_process_routed_req().  `base_lid`: of the port
// that it came to.
Req ReceivedReq(const mad::IncomingMessage& mad, wire::Lid base_lid);

// Returns the type of queue pair that it asks for; kSmi, which nobody listens
// with, for those that are not connected: cm_req_get_qp_type().
verbs::QpType QpTypeOf(const Req& req);

// Returns its primary path, seen from here: cm_format_paths_from_req().
mad::PathRecord PathOf(const Req& req, const mad::IncomingMessage& mad);

// Returns what a listener is told of it.
Arrived ArrivedOf(const Req& req, int port, const mad::IncomingMessage& mad);

}  // namespace ibemu::cm

#endif  // IBEMU_CM_RECEIVED_REQ_H_
