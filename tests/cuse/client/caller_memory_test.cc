#include "cuse/client/caller_memory.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <new>
#include <thread>

#include "tests/cuse/blocked_reader.h"
#include "tests/cuse/other_process.h"

namespace ibemu::cuse {
namespace {

constexpr std::array kData = {std::byte{1}, std::byte{2}, std::byte{3}};

TEST(CallerMemoryTest, ABlockedReadShowsItsSize) {
  const BlockedReader client(1000);
  EXPECT_EQ(SizeOfRead(client.tid()).value_or(0), 1000u);
  EXPECT_TRUE(absl::IsFailedPrecondition(SizeOfWrite(client.tid()).status()));
}

TEST(CallerMemoryTest, TheBufferOfABlockedReadIsFilled) {
  const BlockedReader client(1000);
  ASSERT_TRUE(FillReadBuffer(client.tid(), 1000, kData).ok());
  EXPECT_EQ(client.buffer()[2], std::byte{3});
  EXPECT_EQ(client.buffer()[3], std::byte{0});
}

TEST(CallerMemoryTest, AnotherReadThanTheRequestsIsLeftAlone) {
  const BlockedReader client(1000);
  EXPECT_TRUE(
      absl::IsFailedPrecondition(FillReadBuffer(client.tid(), 999, kData)));
  EXPECT_EQ(client.buffer()[0], std::byte{0});
}

TEST(CallerMemoryTest, AStoppedThreadOutsideOfCallsIsInNone) {
  void* const shared =
      mmap(nullptr, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* const loops = new (shared) std::atomic<bool>(false);
  OtherProcess child([loops] {
    for (;;) *loops = true;
  });
  child.Begin();
  // Until then it may still be on its way out of a call.
  while (!*loops) sched_yield();
  kill(child.pid(), SIGSTOP);
  ASSERT_EQ(waitpid(child.pid(), nullptr, WUNTRACED), child.pid());
  // It is told before the thread has left its processor.
  while (absl::IsUnavailable(CallOf(child.pid()).status())) sched_yield();
  EXPECT_TRUE(absl::IsFailedPrecondition(CallOf(child.pid()).status()));
  munmap(shared, sizeof(std::atomic<bool>));
}

TEST(CallerMemoryTest, ARunningThreadIsNotInACall) {
  std::atomic<pid_t> tid = 0;
  std::atomic<bool> go_on = true;
  std::thread thread([&] {
    tid = gettid();
    while (go_on) {
    }
  });
  while (tid == 0) {
  }
  EXPECT_FALSE(CallOf(tid).ok());
  go_on = false;
  thread.join();
}

TEST(CallerMemoryTest, NoThreadIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(CallOf(0x3fffffff).status()));
}

TEST(CallerMemoryTest, AClientBelongsToItsUser) {
  EXPECT_EQ(UserOf(ClientOf(getpid())), OwnerId{geteuid()});
  EXPECT_EQ(UserOf(ClientId{0x3fffffff}), OwnerId{UINT64_MAX});
}

TEST(CallerMemoryTest, ThreadsOfAProcessAreOneClient) {
  const BlockedReader client(10);
  EXPECT_EQ(ClientOf(client.tid()), ClientOf(getpid()));
  EXPECT_EQ(ClientOf(0x3fffffff), ClientId{0x3fffffff});
}

}  // namespace
}  // namespace ibemu::cuse
