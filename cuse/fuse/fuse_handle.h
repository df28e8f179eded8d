// FuseDevices::Handle: one open device file of FuseDevices, and small helpers.
#ifndef IBEMU_CUSE_FUSE_FUSE_HANDLE_H_
#define IBEMU_CUSE_FUSE_FUSE_HANDLE_H_

#include <memory>
#include <utility>

#include "cuse/client/caller_memory.h"
#include "cuse/fuse/fuse_devices.h"
#include "cuse/fuse/poll_waiters.h"
#include "cuse/fuse/split_calls.h"

namespace ibemu::cuse {

inline RequestId IdOf(fuse_req_t request) {
  return RequestId{reinterpret_cast<uintptr_t>(request)};
}

inline const char* Chars(Bytes bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

struct FuseDevices::Handle {
  Handle(Timers& timers, std::unique_ptr<File> served, uid_t user)
      : file(std::move(served)),
        opener(user),
        waiters(timers, *file),
        writes(SizeOfWrite) {}

  std::unique_ptr<File> file;
  const uid_t opener;
  PollWaiters waiters;
  SplitReads reads;
  SplitWrites writes;
  absl::flat_hash_map<pid_t, TimerId> write_ends;
};

// Runs a call of `handle`'s file.  If the file keeps the reply, later signals
// to the client interrupt the request.
template <class Call>
void FuseDevices::Dispatch(fuse_req_t request, Handle& handle, Call call) {
  running_ = IdOf(request);
  call(running_);
  if (std::exchange(running_, RequestId{}) == IdOf(request)) {
    fuse_req_interrupt_func(request, &OnInterrupt, &handle);
  }
}

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_FUSE_HANDLE_H_
