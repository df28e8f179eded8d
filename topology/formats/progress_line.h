// The line on the terminal that tells how far a long start is.
#ifndef IBEMU_TOPOLOGY_FORMATS_PROGRESS_LINE_H_
#define IBEMU_TOPOLOGY_FORMATS_PROGRESS_LINE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ibemu::topology {

// A ProgressLine is one line on stderr that is rewritten as things go on, and
// removed at the end.  It prints nothing if stderr is not a terminal, nor
// during the first moments, so that a short start does not flicker.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows "reading lab.net: 42 %", or the phase alone if `total` is 0.
  void Show(std::string_view phase, size_t done, size_t total);

 private:
  bool terminal_;
  bool shown_ = false;
  int64_t quiet_until_;  // milliseconds of the monotonic clock
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_PROGRESS_LINE_H_
