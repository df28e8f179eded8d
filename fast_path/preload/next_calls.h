// The functions that ours stand in front of.
#ifndef IBEMU_FAST_PATH_PRELOAD_NEXT_CALLS_H_
#define IBEMU_FAST_PATH_PRELOAD_NEXT_CALLS_H_

#include <dlfcn.h>
#include <poll.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdio>

namespace ibemu::fast_path {

// A function of the C library, or of another preloaded library that stands
// between it and us.  It is found with the start of the program, for to look
// for it takes locks that a signal handler must not wait for; or when it is
// needed before.
template <class Function>
class NextCall {
 public:
  explicit constexpr NextCall(const char* name) : name_(name) {}

  template <class... Arguments>
  auto operator()(Arguments... arguments) {
    Function* const function = function_.load(std::memory_order_relaxed);
    return (function == nullptr ? Find() : function)(arguments...);
  }

  // Returns the function; null if there is none of that name.
  Function* Find() {
    const auto function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
    function_.store(function, std::memory_order_relaxed);
    return function;
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
inline constinit NextCall<int(FILE*)> next_fclose("fclose");

// The same with the checks of _FORTIFY_SOURCE, which end the program.
inline constinit NextCall<int(const char*, int)> next_open_2("__open_2");
inline constinit NextCall<int(int, const char*, int)> next_openat_2(
    "__openat_2");
inline constinit NextCall<ssize_t(int, void*, size_t, size_t)> next_read_chk(
    "__read_chk");
inline constinit NextCall<int(pollfd*, nfds_t, int, size_t)> next_poll_chk(
    "__poll_chk");
inline constinit NextCall<int(pollfd*, nfds_t, const timespec*, const sigset_t*,
                              size_t)>
    next_ppoll_chk("__ppoll_chk");

// Finds those that may be called first in a signal handler.
inline void FindNextCalls() {
  next_open.Find();
  next_openat.Find();
  next_close.Find();
  next_read.Find();
  next_write.Find();
  next_poll.Find();
  next_ppoll.Find();
  next_dup2.Find();
  next_dup3.Find();
  next_close_range.Find();
  next_closefrom.Find();
  next_fclose.Find();
}

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_PRELOAD_NEXT_CALLS_H_
