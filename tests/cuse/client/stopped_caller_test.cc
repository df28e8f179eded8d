#include "cuse/client/stopped_caller.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/unique_fd.h"
#include "cuse/client/caller_memory.h"

namespace ibemu::cuse {
namespace {

constexpr std::array kFilled = {std::byte{1}, std::byte{2}, std::byte{3}};

// A child process that reads `kFilled.size()` bytes from a pipe, gets one, and
// checks that somebody has filled the rest of its buffer.
class StoppedCallerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int request[2];
    ASSERT_EQ(pipe(request), 0);
    child_ = fork();
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(request[1]);
      std::array<std::byte, kFilled.size()> buffer{};
      const ssize_t got = read(request[0], buffer.data(), buffer.size());
      // The first byte is the pipe's if the stop made read() start again.
      const bool filled =
          std::equal(buffer.begin() + 1, buffer.end(), kFilled.begin() + 1);
      _exit(got == 1 && filled ? 0 : 1);
    }
    close(request[0]);
    answer_.Reset(request[1]);
    while (!SizeOfRead(child_).ok()) sched_yield();
  }

  // Lets the read() end, as the front end's reply would.
  void Answer() {
    const char byte = 9;
    ASSERT_EQ(write(answer_.get(), &byte, 1), 1);
  }

  int StatusOfChild() {
    int status = -1;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    return status;
  }

  pid_t child_ = 0;
  UniqueFd answer_;
};

TEST_F(StoppedCallerTest, TheBufferIsFilledOnTheWayBackToUserSpace) {
  absl::StatusOr<StoppedCaller> caller = StoppedCaller::Seize(child_);
  ASSERT_TRUE(caller.ok()) << caller.status();
  Answer();
  const absl::Status filled = caller->Fill(kFilled.size(), kFilled);
  EXPECT_TRUE(filled.ok()) << filled;
  { const StoppedCaller let_go = *std::move(caller); }
  EXPECT_EQ(StatusOfChild(), 0);
}

TEST_F(StoppedCallerTest, AThreadThatDiesIsNotFound) {
  absl::StatusOr<StoppedCaller> caller = StoppedCaller::Seize(child_);
  ASSERT_TRUE(caller.ok());
  ASSERT_EQ(kill(child_, SIGKILL), 0);
  EXPECT_FALSE(caller->Fill(kFilled.size(), kFilled).ok());
}

TEST(StoppedCallerSeizeTest, AStrangerCannotBeSeized) {
  EXPECT_FALSE(StoppedCaller::Seize(gettid()).ok());
}

}  // namespace
}  // namespace ibemu::cuse
