// ErrnoKept: errno as it was.
#ifndef IBEMU_FAST_PATH_PRELOAD_ERRNO_KEPT_H_
#define IBEMU_FAST_PATH_PRELOAD_ERRNO_KEPT_H_

#include <cerrno>

namespace ibemu::fast_path {

// As long as an ErrnoKept lives, errno may change: then it is what it was.  A
// call must not change it if nothing of what it was called for has failed.
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
