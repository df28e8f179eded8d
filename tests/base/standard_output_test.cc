#include "base/standard_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace ibemu {
namespace {

// The state belongs to a process, so each test has one of its own, with
// standard output at `path`.
[[noreturn]] void PrintTo(const char* path, const std::string& text,
                          int status) {
  dup2(open(path, O_WRONLY), STDOUT_FILENO);
  Print(text);
  std::exit(FinishOutput("prog", status));
}

// The same to a pipe that nobody reads.
[[noreturn]] void PrintToNobody(const std::string& text) {
  std::array<int, 2> ends;
  if (pipe(ends.data()) != 0) std::abort();
  close(ends[0]);
  dup2(ends[1], STDOUT_FILENO);
  std::signal(SIGPIPE, SIG_IGN);
  Print(text);
  std::exit(FinishOutput("prog", 0));
}

constexpr char kFull[] =
    "^prog: cannot write to standard output: No space left on device\n$";

TEST(StandardOutputTest, AllThatIsWrittenIsFine) {
  EXPECT_EXIT(PrintTo("/dev/null", "text", 0), ::testing::ExitedWithCode(0),
              "^$");
}

TEST(StandardOutputTest, AFullDiskIsAnErrorHoweverShortTheText) {
  EXPECT_EXIT(PrintTo("/dev/full", "x", 0), ::testing::ExitedWithCode(1),
              kFull);
}

TEST(StandardOutputTest, TheReasonOutlivesTheWriteThatFailed) {
  EXPECT_EXIT(PrintTo("/dev/full", std::string(1'000'000, 'x'), 0),
              ::testing::ExitedWithCode(1), kFull);
}

TEST(StandardOutputTest, AnEarlierErrorKeepsItsStatus) {
  EXPECT_EXIT(PrintTo("/dev/full", "x", 7), ::testing::ExitedWithCode(7),
              kFull);
}

TEST(StandardOutputTest, WhoPrintsNothingNeedsNoRoom) {
  EXPECT_EXIT(PrintTo("/dev/full", "", 0), ::testing::ExitedWithCode(0), "^$");
}

TEST(StandardOutputTest, AReaderThatHasGoneEndsTheProgramQuietly) {
  EXPECT_EXIT(PrintToNobody("x"), ::testing::KilledBySignal(SIGPIPE), "^$");
}

}  // namespace
}  // namespace ibemu
