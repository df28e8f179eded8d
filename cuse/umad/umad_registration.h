// The arguments of umad's register ioctls.
#ifndef IBEMU_CUSE_UMAD_UMAD_REGISTRATION_H_
#define IBEMU_CUSE_UMAD_UMAD_REGISTRATION_H_

#include <rdma/ib_user_mad.h>

#include "cuse/errno.h"
#include "mad/agent.h"

namespace ibemu::cuse {

// Check what Linux checks before it looks for a free agent id.
Errno CheckRequest(const ib_user_mad_reg_req& request);
Errno CheckRequest(const ib_user_mad_reg_req2& request);

// Check what Linux checks after that, before ib_mad sees the request.
Errno CheckClass(const ib_user_mad_reg_req& request);
Errno CheckClass(const ib_user_mad_reg_req2& request);

// Convert a request.  For an agent of class 0, which only sends, version,
// methods and OUI are ignored.
mad::Registration ToRegistration(const ib_user_mad_reg_req& request);
mad::Registration ToRegistration(const ib_user_mad_reg_req2& request);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UMAD_UMAD_REGISTRATION_H_
