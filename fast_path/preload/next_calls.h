// The functions that ours stand in front of.
#ifndef IBEMU_FAST_PATH_PRELOAD_NEXT_CALLS_H_
#define IBEMU_FAST_PATH_PRELOAD_NEXT_CALLS_H_

#include <dlfcn.h>
#include <poll.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>

namespace ibemu::fast_path {

// A function of the C library, or of another preloaded library that stands
// between it and us.  It is found when it is first needed: other libraries may
// call it before any code of ours has run.
template <class Function>
class NextCall {
 public:
  explicit constexpr NextCall(const char* name) : name_(name) {}

  template <class... Arguments>
  auto operator()(Arguments... arguments) {
    Function* function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
      function_.store(function, std::memory_order_relaxed);
    }
    return function(arguments...);
  }

 private:
  const char* const name_;
  std::atomic<Function*> function_ = nullptr;
};

inline constinit NextCall<int(const char*, int, ...)> next_open("open");
inline constinit NextCall<int(int, const char*, int, ...)> next_openat(
    "openat");
inline constinit NextCall<int(int)> next_close("close");
inline constinit NextCall<ssize_t(int, void*, size_t)> next_read("read");
inline constinit NextCall<ssize_t(int, const void*, size_t)> next_write(
    "write");
inline constinit NextCall<int(pollfd*, nfds_t, int)> next_poll("poll");
inline constinit NextCall<int(pollfd*, nfds_t, const timespec*,
                              const sigset_t*)>
    next_ppoll("ppoll");
inline constinit NextCall<int(int, int)> next_dup2("dup2");
inline constinit NextCall<int(int, int, int)> next_dup3("dup3");
inline constinit NextCall<int(unsigned, unsigned, int)> next_close_range(
    "close_range");
inline constinit NextCall<void(int)> next_closefrom("closefrom");

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_PRELOAD_NEXT_CALLS_H_
