// What a long start is doing, for people who wait at a terminal.
#ifndef IBEMU_DAEMON_PROGRESS_H_
#define IBEMU_DAEMON_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ibemu::daemon {

// One line on stderr that is rewritten as things go on, and gone at the end.
// Silent when stderr is no terminal, and for the first moments: a short load
// does not flicker.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // "reading lab.net: 42 %"; without a total, just the phase.
  void Show(std::string_view phase, size_t done, size_t total);

 private:
  bool terminal_;
  bool shown_ = false;
  int64_t quiet_until_;  // milliseconds of the monotonic clock
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_PROGRESS_H_
