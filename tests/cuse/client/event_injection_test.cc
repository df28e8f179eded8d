// A pipe can be opened again, too, but it does not know its number; how it ends
// well, tests/uml shows.
#include "cuse/client/event_injection.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "cuse/client/stopped_caller.h"
#include "tests/cuse/blocked_writer.h"

namespace ibemu::cuse {
namespace {

const absl::Status kNotTold =
    absl::AbortedError(absl::ErrnoToStatus(ENOTTY, "ioctl").message());

// Stops the client, lets `then` happen, makes it open its file.
absl::Status Give(
    pid_t tid, const std::function<void()>& then = [] {}) {
  absl::StatusOr<StoppedCaller> caller = StoppedCaller::Seize(tid);
  if (!caller.ok()) return caller.status();
  then();
  return InjectEventFile(*caller);
}

TEST(EventInjectionTest, AClientThatGetsNoFileWritesAgainAndIsAsBefore) {
  BlockedWriter client;
  const absl::Status given = Give(client.pid());
  EXPECT_EQ(given, kNotTold);
  EXPECT_EQ(client.Finish(), 0);
}

TEST(EventInjectionTest, WithoutAFreeDescriptorItsWriteSaysSo) {
  BlockedWriter client(&BlockedWriter::LeaveNoDescriptor);
  EXPECT_TRUE(absl::IsResourceExhausted(Give(client.pid())));
  EXPECT_EQ(client.Finish(), EMFILE);
}

TEST(EventInjectionTest, SignalsComeBeforeItWritesAgain) {
  BlockedWriter client([] {
    struct sigaction action {};
    action.sa_handler = [](int) { BlockedWriter::handled = 1; };
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
  });
  EXPECT_EQ(Give(client.pid(), [&client] { kill(client.pid(), SIGUSR1); }),
            kNotTold);
  EXPECT_EQ(client.Finish(), BlockedWriter::kHandled);
}

TEST(EventInjectionTest, AProcessThatIsStoppedMeanwhileStopsAfterwards) {
  BlockedWriter client;
  EXPECT_EQ(Give(client.pid(), [&client] { kill(client.pid(), SIGSTOP); }),
            kNotTold);
  int status = 0;
  ASSERT_EQ(waitpid(client.pid(), &status, WUNTRACED), client.pid());
  EXPECT_TRUE(WIFSTOPPED(status));
  kill(client.pid(), SIGCONT);
  EXPECT_EQ(client.Finish(), 0);
}

TEST(EventInjectionTest, AThreadInAnotherCallIsLeftAlone) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char byte = 0;
    _exit(read(ends[0], &byte, 1) == 1 && byte == 'x' ? 0 : 1);
  }
  while (!SizeOfRead(child).ok()) sched_yield();
  EXPECT_TRUE(absl::IsFailedPrecondition(Give(child)));
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(EventInjectionTest, AThreadThatDiesIsNotFound) {
  BlockedWriter client;
  EXPECT_TRUE(absl::IsNotFound(
      Give(client.pid(), [&client] { kill(client.pid(), SIGKILL); })));
}

}  // namespace
}  // namespace ibemu::cuse
