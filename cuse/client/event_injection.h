// InjectEventFile(): an event file that a client is made to open.
#ifndef IBEMU_CUSE_CLIENT_EVENT_INJECTION_H_
#define IBEMU_CUSE_CLIENT_EVENT_INJECTION_H_

#include "absl/status/status.h"
#include "cuse/client/stopped_caller.h"

namespace ibemu::cuse {

// Waits until the write() of the thread was interrupted.  Then, before the
// client notices, makes the thread open the file that it wrote to once more,
// for reading, and report the number of that descriptor to us
// (base/supervisor_ioctls.h).  After that the thread repeats its write().  To
// be called only on the worker that has seized the thread.
//
// Errors:
//   ResourceExhausted   it has no descriptor left, so its write() fails
//   NotFound            it died
//   FailedPrecondition  it is in another call, and is left alone
//   Aborted             it repeats its write(), but has no such file
absl::Status InjectEventFile(StoppedCaller& caller);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_EVENT_INJECTION_H_
