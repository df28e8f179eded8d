#include "topology/formats/progress_line.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"

namespace ibemu::topology {
namespace {

constexpr int64_t kFirstAfter = 300;  // milliseconds
constexpr int64_t kInterval = 100;

int64_t Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

ProgressLine::ProgressLine()
    : terminal_(isatty(STDERR_FILENO) == 1),
      quiet_until_(Now() + kFirstAfter) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::Show(std::string_view phase, size_t done, size_t total) {
  if (!terminal_ || Now() < quiet_until_) return;
  quiet_until_ = Now() + kInterval;
  shown_ = true;
  std::string line = absl::StrCat("\r\033[K", Absl(phase));
  if (total > 0) absl::StrAppend(&line, ": ", done * 100 / total, " %");
  std::fputs(line.c_str(), stderr);
}

}  // namespace ibemu::topology
