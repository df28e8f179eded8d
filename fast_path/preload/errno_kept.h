// ErrnoKept: errno, put back at the end of a scope.
#ifndef IBEMU_FAST_PATH_PRELOAD_ERRNO_KEPT_H_
#define IBEMU_FAST_PATH_PRELOAD_ERRNO_KEPT_H_

#include <cerrno>

namespace ibemu::fast_path {

// An ErrnoKept gives errno back, when it ends, the value from its beginning: a
// call must not change errno if nothing that it was called for has failed.
class ErrnoKept {
 public:
  ErrnoKept() = default;
  ErrnoKept(const ErrnoKept&) = delete;
  ErrnoKept& operator=(const ErrnoKept&) = delete;
  ~ErrnoKept() { errno = before_; }

 private:
  const int before_ = errno;
};

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_PRELOAD_ERRNO_KEPT_H_
