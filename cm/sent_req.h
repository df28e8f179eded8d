// ReqOf(): a REQ, as the host that sends it writes it.
#ifndef IBEMU_CM_SENT_REQ_H_
#define IBEMU_CM_SENT_REQ_H_

#include "absl/status/statusor.h"
#include "cm/cm_id.h"
#include "cm/local_end.h"
#include "cm/wire/req.h"

namespace ibemu::cm {

// Returns the REQ that asks for the connection: cm_format_req().
//
// Errors: InvalidArgument, a type of queue pair that is not connected, or too
// much private data.
absl::StatusOr<Req> ReqOf(const LocalEnd& local, const CmRequest& request);

}  // namespace ibemu::cm

#endif  // IBEMU_CM_SENT_REQ_H_
