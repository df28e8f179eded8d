#include "launch/descendants.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace ibemu::launch {
namespace {

TEST(DescendantsTest, ComeFromTheAncestorAtWhateverDistance) {
  const std::vector<Process> processes = {
      {.pid = 2, .parent = 3}, {.pid = 3, .parent = 9}, {.pid = 9, .parent = 1},
      {.pid = 5, .parent = 9}, {.pid = 6, .parent = 5}, {.pid = 7, .parent = 1},
  };
  EXPECT_EQ(DescendantsOf(9, processes, {}), (std::set<pid_t>{2, 3, 5, 6}));
  EXPECT_EQ(DescendantsOf(9, processes, {5}), (std::set<pid_t>{2, 3}));
  EXPECT_TRUE(DescendantsOf(7, processes, {}).empty());
}

TEST(DescendantsTest, ThoseThatHaveEndedDoNotRun) {
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  const auto runs = [child] {
    return std::ranges::count(RunningProcesses(),
                              Process{.pid = child, .parent = getpid()}) == 1;
  };
  EXPECT_TRUE(runs());
  EXPECT_TRUE(OwnChildren().contains(child));
  kill(child, SIGKILL);
  siginfo_t info = {};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(runs());
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(OwnChildren().contains(child));
}

TEST(DescendantsTest, AProcessWhoseFirstThreadHasEndedRuns) {
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] {
      while (true) pause();
    }).detach();
    syscall(SYS_exit, 0);
  }
  const auto state = [child] {
    std::ifstream file("/proc/" + std::to_string(child) + "/stat");
    const std::string line(std::istreambuf_iterator<char>(file), {});
    return line[line.rfind(") ") + 2];
  };
  while (state() != 'Z') std::this_thread::yield();
  EXPECT_EQ(std::ranges::count(RunningProcesses(),
                               Process{.pid = child, .parent = getpid()}),
            1);
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(ForEachProcessTest, VisitsWhatWasForkedMeanwhile) {
  std::set<pid_t> processes = {7};
  std::vector<pid_t> visited;
  ForEachProcess([&] { return processes; },
                 [&](pid_t pid) {
                   visited.push_back(pid);
                   // It has forked before it was reached.
                   if (pid < 10) processes = {pid + 1};
                 });
  EXPECT_EQ(visited, (std::vector<pid_t>{7, 8, 9, 10}));
}

TEST(ForEachProcessTest, GivesUpWhereEachOneForks) {
  pid_t last = 1;
  int visits = 0;
  ForEachProcess([&] { return std::set<pid_t>{++last}; },
                 [&](pid_t) { ++visits; });
  EXPECT_EQ(visits, 100);
}

}  // namespace
}  // namespace ibemu::launch
