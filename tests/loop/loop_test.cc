#include "loop/loop.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "loop/epoll_loop.h"
#include "loop/uring_loop.h"

namespace ibemu {
namespace {

// A connected pair of sockets.
struct Pair {
  Pair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0); }
  ~Pair() {
    CloseNear();
    CloseFar();
  }
  void CloseNear() { Close(ends[0]); }
  void CloseFar() { Close(ends[1]); }
  void Say(char c) { EXPECT_EQ(write(ends[1], &c, 1), 1); }
  char Hear() {
    char c = 0;
    return recv(ends[0], &c, 1, MSG_DONTWAIT) == 1 ? c : '-';
  }
  int fd() const { return ends[0]; }

  static void Close(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

class LoopTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto loop =
        GetParam() == "uring" ? UringLoop::Create() : EpollLoop::Create();
    if (!loop.ok() && GetParam() == "uring") {
      GTEST_SKIP() << "no io_uring here: " << loop.status();
    }
    ASSERT_TRUE(loop.ok()) << loop.status();
    loop_ = *std::move(loop);
  }

  // Runs everything that is ready, until nothing is.
  void Settle() {
    loop_->RunAfter(absl::ZeroDuration(), [this] {
      loop_->RunAfter(absl::ZeroDuration(), [this] { loop_->Stop(); });
    });
    loop_->Run();
  }

  std::unique_ptr<Loop> loop_;
  std::string story_;
};

INSTANTIATE_TEST_SUITE_P(Both, LoopTest, ::testing::Values("uring", "epoll"),
                         [](const auto& info) { return info.param; });

TEST_P(LoopTest, ACallForEachTimeSomethingArrives) {
  Pair pair;
  ASSERT_TRUE(loop_->Watch(pair.fd(), [&] { story_ += pair.Hear(); }).ok());
  pair.Say('a');
  Settle();
  EXPECT_EQ(story_, "a");
  Settle();
  EXPECT_EQ(story_, "a");
  pair.Say('b');
  Settle();
  EXPECT_EQ(story_, "ab");
}

TEST_P(LoopTest, WhatAHandlerLeavesBehindIsReportedAgain) {
  Pair pair;
  ASSERT_TRUE(loop_
                  ->Watch(pair.fd(),
                          [&] {
                            story_ += pair.Hear();
                            if (story_.size() == 3) loop_->Stop();
                          })
                  .ok());
  for (const char c : {'a', 'b', 'c'}) pair.Say(c);
  loop_->Run();
  EXPECT_EQ(story_, "abc");
}

TEST_P(LoopTest, AHangUpIsReported) {
  Pair pair;
  ASSERT_TRUE(loop_->Watch(pair.fd(), [&] { loop_->Stop(); }).ok());
  pair.CloseFar();
  loop_->Run();
}

TEST_P(LoopTest, AForgottenDescriptorIsSilent) {
  Pair pair;
  ASSERT_TRUE(loop_->Watch(pair.fd(), [&] { story_ += '!'; }).ok());
  pair.Say('a');
  loop_->Forget(pair.fd());
  loop_->Forget(pair.fd());
  Settle();
  EXPECT_EQ(story_, "");
}

TEST_P(LoopTest, AHandlerMayForgetItselfAndStillUseWhatItCaptured) {
  Pair pair;
  const std::string text(100, 'x');
  ASSERT_TRUE(loop_
                  ->Watch(pair.fd(),
                          [&, text] {
                            loop_->Forget(pair.fd());
                            story_ = text;
                          })
                  .ok());
  pair.Say('a');
  Settle();
  EXPECT_EQ(story_, text);
}

TEST_P(LoopTest, OneHandlerMaySilenceAnotherThatIsReadyToo) {
  Pair a;
  Pair b;
  const auto silence_both = [&] {
    story_ += '!';
    loop_->Forget(a.fd());
    loop_->Forget(b.fd());
  };
  ASSERT_TRUE(loop_->Watch(a.fd(), silence_both).ok());
  ASSERT_TRUE(loop_->Watch(b.fd(), silence_both).ok());
  a.Say('a');
  b.Say('b');
  Settle();
  EXPECT_EQ(story_, "!");
}

TEST_P(LoopTest, AReusedNumberDoesNotHearItsPredecessor) {
  Pair first;
  const int number = first.fd();
  ASSERT_TRUE(loop_->Watch(number, [&] { story_ += "old"; }).ok());
  Settle();
  first.Say('a');
  loop_->Forget(number);
  first.CloseNear();
  Pair second;
  ASSERT_EQ(second.fd(), number);
  ASSERT_TRUE(loop_->Watch(number, [&] { story_ += second.Hear(); }).ok());
  Settle();
  EXPECT_EQ(story_, "");
  second.Say('b');
  Settle();
  EXPECT_EQ(story_, "b");
}

// io_uring holds a reference to what it polls.
TEST_P(LoopTest, ClosingAForgottenDescriptorHangsUpOnThePeer) {
  Pair pair;
  ASSERT_TRUE(loop_->Watch(pair.fd(), [] {}).ok());
  Settle();
  loop_->Forget(pair.fd());
  pair.CloseNear();
  Settle();
  char c;
  EXPECT_EQ(recv(pair.ends[1], &c, 1, MSG_DONTWAIT), 0);
}

TEST_P(LoopTest, ReadabilityAndWritabilityOfOneDescriptorAreApart) {
  Pair pair;
  ASSERT_TRUE(loop_->Watch(pair.fd(), [&] { story_ += pair.Hear(); }).ok());
  ASSERT_TRUE(loop_
                  ->WatchWritable(pair.fd(),
                                  [&] {
                                    story_ += 'w';
                                    loop_->Stop();
                                  })
                  .ok());
  loop_->Run();
  EXPECT_EQ(story_, "w");
  loop_->Forget(pair.fd());
  pair.Say('a');
  Settle();
  EXPECT_EQ(story_, "w");
}

// Counts what it finds; the peer says the next thing when it has an answer.
TEST_P(LoopTest, AnEagerWatcherFindsAllThatAPromptPeerSays) {
  Pair pair;
  int heard = 0;
  int attempts = 0;
  ASSERT_TRUE(loop_
                  ->WatchEagerly(pair.fd(),
                                 [&] {
                                   ++attempts;
                                   if (pair.Hear() != 'x') return false;
                                   if (++heard == 1000) loop_->Stop();
                                   loop_->RunSoon([&] { pair.Say('x'); });
                                   return true;
                                 })
                  .ok());
  pair.Say('x');
  loop_->Run();
  EXPECT_EQ(heard, 1000);
  EXPECT_GE(attempts, heard);
}

TEST_P(LoopTest, APromptPeerDoesNotKeepTheLoopFromOthers) {
  Pair prompt;
  Pair other;
  ASSERT_TRUE(loop_
                  ->WatchEagerly(prompt.fd(),
                                 [&] {
                                   if (prompt.Hear() != 'x') return false;
                                   prompt.Say('x');
                                   return true;
                                 })
                  .ok());
  ASSERT_TRUE(loop_->Watch(other.fd(), [&] { loop_->Stop(); }).ok());
  prompt.Say('x');
  loop_->RunAfter(absl::Microseconds(200), [&] { other.Say('!'); });
  loop_->Run();
}

TEST_P(LoopTest, AnEagerWatcherMayForgetItself) {
  Pair pair;
  ASSERT_TRUE(loop_
                  ->WatchEagerly(pair.fd(),
                                 [&] {
                                   story_ += pair.Hear();
                                   if (story_ == "xxx") {
                                     loop_->Forget(pair.fd());
                                     loop_->RunAfter(absl::ZeroDuration(),
                                                     [&] { loop_->Stop(); });
                                   }
                                   return true;
                                 })
                  .ok());
  for (int i = 0; i < 5; ++i) pair.Say('x');
  loop_->Run();
  EXPECT_EQ(story_, "xxx");
}

TEST_P(LoopTest, WhatCannotBePolledIsRefused) {
  EXPECT_EQ(loop_->Watch(-1, [] {}).code(), absl::StatusCode::kInvalidArgument);
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_EQ(loop_->Watch(file, [] {}).code(),
            absl::StatusCode::kInvalidArgument);
  close(file);
  Pair pair;
  ASSERT_TRUE(loop_->Watch(pair.fd(), [] {}).ok());
  EXPECT_EQ(loop_->Watch(pair.fd(), [] {}).code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_P(LoopTest, TimersRunInTheOrderOfTheirDeadlines) {
  const absl::Time start = loop_->Now();
  loop_->RunAt(start + absl::Microseconds(300), [&] {
    story_ += 'b';
    loop_->Stop();
  });
  loop_->RunAt(start + absl::Microseconds(200), [&] { story_ += 'a'; });
  const TimerId never =
      loop_->RunAt(start + absl::Microseconds(250), [&] { story_ += '!'; });
  loop_->Cancel(never);
  loop_->Run();
  EXPECT_EQ(story_, "ab");
  EXPECT_GE(loop_->Now(), start + absl::Microseconds(300));
}

TEST_P(LoopTest, DeferredTasksRunBeforeTheNextHandler) {
  Pair a;
  Pair b;
  const auto note = [&](Pair& pair) {
    story_ += pair.Hear();
    loop_->RunSoon([&] { story_ += '.'; });
  };
  ASSERT_TRUE(loop_->Watch(a.fd(), [&] { note(a); }).ok());
  ASSERT_TRUE(loop_->Watch(b.fd(), [&] { note(b); }).ok());
  a.Say('x');
  b.Say('x');
  Settle();
  EXPECT_EQ(story_, "x.x.");
}

// A busy time-line must not starve the descriptors.
TEST_P(LoopTest, DescriptorsAreServedWhileTimersAreAlwaysDue) {
  Pair pair;
  std::function<void()> again = [&] {
    loop_->RunAfter(absl::ZeroDuration(), [&] { again(); });
  };
  again();
  ASSERT_TRUE(loop_->Watch(pair.fd(), [&] { loop_->Stop(); }).ok());
  pair.Say('a');
  loop_->Run();
}

TEST_P(LoopTest, AnotherThreadMayPost) {
  std::thread::id loop_thread;
  loop_->RunAfter(absl::ZeroDuration(),
                  [&] { loop_thread = std::this_thread::get_id(); });
  int ran = 0;
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) {
      loop_->Post([&] {
        EXPECT_EQ(std::this_thread::get_id(), loop_thread);
        if (++ran == 1000) loop_->Stop();
      });
    }
  });
  loop_->Run();
  other.join();
  EXPECT_EQ(ran, 1000);
}

TEST_P(LoopTest, BriefJobsRunInTheirOrderOnTheThreadOfTheLoop) {
  std::thread::id loop_thread;
  // The thread was held up for so long that another one had to go on.
  std::atomic<bool> late = false;
  loop_->RunAfter(absl::ZeroDuration(), [&] {
    loop_thread = std::this_thread::get_id();
    for (const char name : {'a', 'b'}) {
      loop_->RunBriefly({.run =
                             [&, name] {
                               EXPECT_TRUE(late || std::this_thread::get_id() ==
                                                       loop_thread);
                               story_ += name;
                             },
                         .late = [&] { late = true; },
                         .done =
                             [&, name](absl::Duration) {
                               story_ += '.';
                               if (name == 'b') loop_->Stop();
                             }});
    }
    story_ += '-';
  });
  loop_->Run();
  EXPECT_TRUE(late || story_ == "-a.b.") << story_;
}

TEST_P(LoopTest, ABriefJobMayAskForAnother) {
  loop_->RunBriefly(
      {.run = [] {},
       .late = [] {},
       .done =
           [&](absl::Duration) {
             loop_->RunBriefly(
                 {.run = [&] { story_ += 'x'; },
                  .late = [] {},
                  .done = [&](absl::Duration) { loop_->Stop(); }});
           }});
  loop_->Run();
  EXPECT_EQ(story_, "x");
}

TEST_P(LoopTest, IdleTasksWaitForWhatIsReady) {
  Pair pair;
  ASSERT_TRUE(loop_->Watch(pair.fd(), [&] { story_ += pair.Hear(); }).ok());
  loop_->RunAfter(absl::ZeroDuration(), [&] {
    loop_->RunIdle([&] {
      story_ += 'i';
      loop_->Stop();
    });
    pair.Say('a');
  });
  loop_->Run();
  EXPECT_EQ(story_, "ai");
}

TEST_P(LoopTest, IdleTasksRunAlthoughThereIsAlwaysSomethingElse) {
  Pair pair;
  pair.Say('a');
  ASSERT_TRUE(loop_->Watch(pair.fd(), [&] { story_ += 'r'; }).ok());
  loop_->RunIdle([&] { loop_->Stop(); });
  loop_->Run();
  EXPECT_LT(story_.size(), 10u);
  EXPECT_GT(story_.size(), 1u);
}

TEST_P(LoopTest, AJobThatIsHeldUpHoldsUpNobodyElse) {
  Pair pair, held_up;
  const auto hear = [&] {
    story_ += pair.Hear();
    held_up.Say('x');  // only now the job may end
  };
  ASSERT_TRUE(loop_->Watch(pair.fd(), hear).ok());
  loop_->RunBriefly({.run =
                         [fd = held_up.fd()] {
                           char c;
                           EXPECT_EQ(recv(fd, &c, 1, 0), 1);
                         },
                     .late =
                         [&] {
                           story_ += 'l';
                           pair.Say('a');
                         },
                     .done =
                         [&](absl::Duration) {
                           story_ += 'd';
                           loop_->Stop();
                         }});
  loop_->Run();
  EXPECT_EQ(story_, "lad");
}

TEST_P(LoopTest, AJobThatIsHeldUpForEverDoesNotKeepTheLoopFromEnding) {
  auto held_up = std::make_shared<Pair>();
  // Ends with the job, wherever that is.
  auto end = std::make_unique<std::promise<void>>();
  std::future<void> ended = end->get_future();
  auto done = std::make_shared<std::atomic<bool>>(false);
  loop_->RunBriefly({.run =
                         [held_up, end = std::move(end)] {
                           char c;
                           EXPECT_EQ(recv(held_up->fd(), &c, 1, 0), 1);
                         },
                     .late = [&] { loop_->Stop(); },
                     .done = [done](absl::Duration) { *done = true; }});
  loop_->Run();
  loop_ = nullptr;
  held_up->Say('x');
  EXPECT_THROW(ended.get(), std::future_error) << "nobody kept the promise";
  EXPECT_FALSE(*done);
}

TEST_P(LoopTest, AsManyDescriptorsAsARingHasEntriesAndMore) {
  constexpr int kMany = 600;
  std::vector<Pair> pairs(kMany);
  int heard = 0;
  for (Pair& pair : pairs) {
    ASSERT_TRUE(loop_
                    ->Watch(pair.fd(),
                            [&] {
                              heard += pair.Hear() == 'x';
                              if (heard == kMany) loop_->Stop();
                            })
                    .ok());
    pair.Say('x');
  }
  loop_->Run();
  EXPECT_EQ(heard, kMany);
}

TEST(MakeLoopTest, AnUnknownKindIsRefused) {
  setenv("IBEMU_LOOP", "select", 1);
  const auto loop = MakeLoop();
  unsetenv("IBEMU_LOOP");
  ASSERT_FALSE(loop.ok());
  EXPECT_EQ(loop.status().message(),
            "IBEMU_LOOP=select: it is \"uring\", \"epoll\" or not set");
}

// Requests that the test makes; a sleep of the loop is written down.
class Requests final : public PolledSource {
 public:
  explicit Requests(std::string& story) : story_(story) {}

  bool Look() override {
    if (waiting == 0) {
      if (on_vain_look) on_vain_look();
      return false;
    }
    --waiting;
    story_ += 'r';
    if (on_request) on_request();
    return true;
  }
  bool BeforeSleep() override {
    asleep_ = true;
    ++sleeps;
    if (before_sleep) before_sleep();
    return waiting == 0;
  }
  void AfterSleep() override {
    EXPECT_TRUE(asleep_);
    asleep_ = false;
  }

  int waiting = 0;
  int sleeps = 0;
  std::function<void()> on_request;
  std::function<void()> before_sleep;
  std::function<void()> on_vain_look;

 private:
  std::string& story_;
  bool asleep_ = false;
};

TEST_P(LoopTest, LooksForRequestsThatNoDescriptorTells) {
  Requests requests(story_);
  requests.waiting = 3;
  loop_->LookAt(&requests);
  requests.on_request = [&] {
    if (requests.waiting == 0) loop_->Stop();
  };
  loop_->Run();
  EXPECT_EQ(story_, "rrr");
  loop_->LookAt(nullptr);
  requests.waiting = 1;
  Settle();
  EXPECT_EQ(story_, "rrr");
}

// It comes in the moment in which the loop has looked and is about to sleep.
TEST_P(LoopTest, DoesNotSleepOverARequest) {
  Requests requests(story_);
  loop_->LookAt(&requests);
  requests.before_sleep = [&] { requests.waiting = 1; };
  requests.on_request = [&] { loop_->Stop(); };
  loop_->Run();
  EXPECT_EQ(story_, "r");
  EXPECT_EQ(requests.sleeps, 1);
  loop_->LookAt(nullptr);
}

// Here to a timer that is due after each request.  It looks once before that
// and once more with the next turn; a further time, if it does not go to sleep.
TEST_P(LoopTest, LooksOnAfterItHasSeenToOthers) {
  constexpr int kMax = 200'000;  // to sleep may pay for a while
  int served = 0, looks = 0, most_looks = 0;
  Requests requests(story_);
  requests.waiting = 1;
  requests.on_request = [&] {
    looks = 0;
    loop_->RunAt(loop_->Now(), [] {});
    if (++served == kMax) loop_->Stop();
  };
  requests.on_vain_look = [&] {
    most_looks = std::max(most_looks, ++looks);
    if (looks == 3) loop_->Stop();
  };
  requests.before_sleep = [&] { requests.waiting = 1; };
  loop_->LookAt(&requests);
  loop_->Run();
  EXPECT_EQ(most_looks, 3);
  loop_->LookAt(nullptr);
}

TEST_P(LoopTest, RunsWhatARequestPutsOffBeforeTheNextOne) {
  Requests requests(story_);
  requests.waiting = 2;
  requests.on_request = [&] {
    loop_->RunSoon([&] {
      story_ += 's';
      if (requests.waiting == 0) loop_->Stop();
    });
  };
  loop_->LookAt(&requests);
  loop_->Run();
  EXPECT_EQ(story_, "rsrs");
  loop_->LookAt(nullptr);
}

}  // namespace
}  // namespace ibemu
