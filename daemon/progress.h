// Progress: a line on the terminal that tells how far a long start is.
#ifndef IBEMU_DAEMON_PROGRESS_H_
#define IBEMU_DAEMON_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ibemu::daemon {

// A Progress is one line on stderr that is rewritten as things go on, and
// removed at the end.  It prints nothing if stderr is not a terminal, nor
// during the first moments, so that a short start does not flicker.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows "reading lab.net: 42 %", or the phase alone if `total` is 0.
  void Show(std::string_view phase, size_t done, size_t total);

 private:
  bool terminal_;
  bool shown_ = false;
  int64_t quiet_until_;  // milliseconds of the monotonic clock
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_PROGRESS_H_
