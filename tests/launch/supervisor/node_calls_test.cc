// What the filter of a run stops, and is none of ours.  What is ours needs a
// FUSE mount: tests/e2e has that.
#include "launch/supervisor/node_calls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rdma/ib_user_verbs.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "launch/pass_descriptor.h"
#include "launch/supervisor/seccomp.h"

namespace ibemu::launch {
namespace {

constexpr NodeFds kFds = {.first = 896, .count = 128};
constexpr int kFirstFd = kFds.first;
constexpr int kOpenFlags = O_RDWR | O_CLOEXEC;  // what the filter stops

// How many threads this process has.
ptrdiff_t Threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

// Runs `client` in a process that has the filter, and serves it until it ends:
// what it returned.  `prepare` runs before it is served.
int StatusOf(
    const std::function<int()>& client,
    const std::function<bool()>& prepare = [] { return true; }) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // tests may run as a plain user
    absl::StatusOr<UniqueFd> listener = FilterSystemCalls(kFds);
    if (!listener.ok()) _exit(255);
    if (!SendDescriptor(ends[1], listener->get()).ok()) _exit(255);
    listener->Reset();
    close(ends[1]);
    _exit(client());
  }
  close(ends[1]);
  const UniqueFd socket(ends[0]);
  UniqueFd listener = ReceiveDescriptor(socket.get());
  EXPECT_TRUE(listener.valid());
  EXPECT_TRUE(prepare());
  if (listener.valid()) NodeCalls::Serve(std::move(listener), kFds);
  // The next client is forked when no other thread may hold a lock.
  while (Threads() > 1) std::this_thread::yield();
  int status = -1;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int OpenOf(const char* path) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, kOpenFlags));
}

TEST(NodeCallsTest, OtherFilesAreOpenedAsAlways) {
  EXPECT_EQ(StatusOf([] {
              struct stat status {};
              const int fd = OpenOf("/dev/null");
              return fd >= 0 && fd < kFirstFd && fstat(fd, &status) == 0 &&
                             S_ISCHR(status.st_mode)
                         ? 0
                         : 1;
            }),
            0);
}

TEST(NodeCallsTest, PathsThatCannotBeReadOrAreNotThereFailAsAlways) {
  EXPECT_EQ(StatusOf([] {
              if (OpenOf(nullptr) >= 0 || errno != EFAULT) return 1;
              if (OpenOf("/dev/infiniband/uverbs31") >= 0) return 2;
              if (errno != ENOENT) return 3;
              if (OpenOf("/dev/infiniband/uverbs32") >= 0) return 4;
              if (OpenOf(std::string(5000, 'x').c_str()) >= 0) return 5;
              return errno == ENAMETOOLONG ? 0 : 6;
            }),
            0);
}

// It ends in the last bytes that can be read.
TEST(NodeCallsTest, APathAtTheEndOfMemoryIsRead) {
  EXPECT_EQ(StatusOf([] {
              constexpr char kPath[] = "/dev/null";
              constexpr size_t kPage = 4096;
              auto* const pages = static_cast<char*>(
                  mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
              munmap(pages + kPage, kPage);
              char* const path = pages + kPage - sizeof kPath;
              std::memcpy(path, kPath, sizeof kPath);
              return OpenOf(path) >= 0 ? 0 : 1;
            }),
            0);
}

TEST(NodeCallsTest, AFileThatHasANodesNumberStaysWhatItIs) {
  EXPECT_EQ(
      StatusOf([] {
        int ends[2];
        if (pipe(ends) != 0 || dup2(ends[1], kFirstFd) != kFirstFd) {
          return 1;
        }
        struct stat status {};
        struct statx more {};
        if (fstat(kFirstFd, &status) != 0 || !S_ISFIFO(status.st_mode) ||
            statx(kFirstFd, "", AT_EMPTY_PATH, STATX_TYPE, &more) != 0 ||
            !S_ISFIFO(more.stx_mode)) {
          return 2;
        }
        // The size and the header of the command that is stopped.
        std::array<char, 40> command{};
        const ib_uverbs_cmd_hdr header{IB_USER_VERBS_CMD_CREATE_CQ, 10, 2};
        std::memcpy(command.data(), &header, sizeof header);
        if (write(kFirstFd, command.data(), command.size()) != 40) {
          return 3;
        }
        std::array<char, 64> got{};
        return read(ends[0], got.data(), got.size()) == 40 ? 0 : 4;
      }),
      0);
}

TEST(NodeCallsTest, ADescriptorThatIsNotOpenIsNone) {
  EXPECT_EQ(StatusOf([] {
              struct stat status {};
              if (fstat(kFirstFd, &status) == 0 || errno != EBADF) return 1;
              std::array<char, 40> command{};
              const ssize_t done =
                  write(kFirstFd, command.data(), command.size());
              return done < 0 && errno == EBADF ? 0 : 2;
            }),
            0);
}

// RLIMIT_NPROC, or the limit of a container.
TEST(NodeCallsTest, WithoutAnyThreadCallsGoOnAsIfNotStopped) {
  const pid_t server = fork();
  if (server == 0) {
    _exit(StatusOf(
        [] {
          const bool fails = OpenOf("/dev/infiniband/uverbs31") < 0;
          return fails && OpenOf("/dev/null") >= 0 ? 0 : 1;
        },
        [] {
          constexpr uid_t kNobody = 65534;  // root has no limit
          const rlimit none = {};
          return setrlimit(RLIMIT_NPROC, &none) == 0 &&
                 (geteuid() != 0 || setuid(kNobody) == 0);
        }));
  }
  int status = -1;
  EXPECT_EQ(waitpid(server, &status, 0), server);
  EXPECT_EQ(status, W_EXITCODE(0, 0));
}

TEST(NodeCallsTest, ServesWhatAProcessLeavesBehind) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(StatusOf([&ends] {
              const pid_t parent = getpid();
              if (fork() != 0) return 0;
              while (getppid() == parent) {
                const int opened = OpenOf("/dev/null");
                if (opened < 0) break;
                close(opened);
              }
              const char last = OpenOf("/dev/null") >= 0 ? 'y' : 'n';
              return write(ends[1], &last, 1) == 1 ? 0 : 1;
            }),
            0);
  char last = 0;
  EXPECT_EQ(read(ends[0], &last, 1), 1);
  EXPECT_EQ(last, 'y');
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace ibemu::launch
