// FuseResult: the outcome of handling one request of the kernel.
#ifndef IBEMU_CUSE_FUSE_FUSE_RESULT_H_
#define IBEMU_CUSE_FUSE_FUSE_RESULT_H_

namespace ibemu::cuse {

// A FuseResult says whether HandleOne() found a request, and whether to call it
// again.
enum class FuseResult {
  kHandled,
  kNothing,  // there was no request
  kEnded,    // no more will come: unmounted, or the connection was aborted
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_FUSE_RESULT_H_
