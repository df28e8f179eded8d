// The arguments of umad's register ioctls.
#ifndef IBEMU_CUSE_UMAD_UMAD_REGISTRATION_H_
#define IBEMU_CUSE_UMAD_UMAD_REGISTRATION_H_

#include <rdma/ib_user_mad.h>

#include "cuse/errno.h"
#include "mad/agent.h"

namespace ibemu::cuse {

// What is checked before a free agent id is looked for ...
Errno CheckRequest(const ib_user_mad_reg_req& request);
Errno CheckRequest(const ib_user_mad_reg_req2& request);

// ... and what after that, before ib_mad sees it.
Errno CheckClass(const ib_user_mad_reg_req& request);
Errno CheckClass(const ib_user_mad_reg_req2& request);

// Of a class-0 agent, which only sends, version, methods and OUI are ignored.
mad::Registration ToRegistration(const ib_user_mad_reg_req& request);
mad::Registration ToRegistration(const ib_user_mad_reg_req2& request);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UMAD_UMAD_REGISTRATION_H_
