#include "cuse/client/process_life.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <thread>

#include "base/pidfd.h"

namespace ibemu::cuse {
namespace {

TEST(ProcessLifeTest, AProcessLivesUntilItIsReaped) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const UniqueFd process(pidfd_open(child, 0));
  EXPECT_TRUE(IsAlive(process));
  EXPECT_EQ(kill(child, SIGKILL), 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(IsAlive(process));
  EXPECT_FALSE(HasThread(child, child));
  EXPECT_FALSE(IsAlive(UniqueFd()));
}

TEST(ProcessLifeTest, AThreadBelongsToOneProcess) {
  std::latch known(1), end(1);
  pid_t tid = 0;
  std::thread other([&] {
    tid = gettid();
    known.count_down();
    end.wait();
  });
  known.wait();
  EXPECT_TRUE(HasThread(getpid(), tid));
  EXPECT_FALSE(HasThread(getppid(), tid));
  end.count_down();
  other.join();
}

TEST(ProcessLifeTest, WhoMayNotBeSentSignalsLives) {
  const UniqueFd first(pidfd_open(1, 0));
  EXPECT_TRUE(IsAlive(first));
  EXPECT_TRUE(HasThread(1, 1));
}

}  // namespace
}  // namespace ibemu::cuse
