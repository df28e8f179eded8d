// issmN: one holder, and the IsSM bit while there is one.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "cases.h"
#include "child.h"

namespace umad_abi {
namespace {

constexpr char kPath[] = "/dev/infiniband/issm0";

int Open(int flags) {
  const int fd = open(kPath, flags | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

// An open that is told as "ok".
std::string Opened(int fd) { return fd < 0 ? Outcome(fd) : "ok"; }

long IsSm() {
  const std::string device = FirstLine("/sys/class/infiniband_mad/umad0/ibdev");
  const std::string mask =
      FirstLine("/sys/class/infiniband/" + device + "/ports/1/cap_mask");
  return (std::strtol(mask.c_str(), nullptr, 0) >> 1) & 1;
}

void Exclusive(Line& line) {
  line.Say("IsSM", IsSm());
  const int first = Open(O_RDWR);
  line.Say("open " + Opened(first)).Say("IsSM", IsSm());
  for (const int flags : {O_RDWR, O_RDONLY, O_WRONLY}) {
    line.Say("second " + Opened(Open(flags | O_NONBLOCK)));
  }
  close(first);
  line.Say("closed: IsSM", IsSm());
  const int again = Open(O_RDONLY | O_NONBLOCK);
  line.Say("again " + Opened(again)).Say("IsSM", IsSm());
  close(again);
}

void Blocks(Line& line) {
  const int first = Open(O_RDWR);
  const pid_t child = StartWaiting([first] {
    close(first);  // the child's copy would hold it, too
    const int second = Open(O_RDWR);
    return second < 0 ? 1 : IsSm() == 1 ? 0 : 2;
  });
  close(first);
  line.Say("a second open waits: exit", ExitStatus(child));
  line.Say("IsSM", IsSm());
}

void Interrupted(Line& line) {
  const int first = Open(O_RDWR);
  const pid_t child = StartWaiting([] {
    OnSignal(SIGALRM, [](int) {});
    return -Open(O_RDWR);
  });
  kill(child, SIGALRM);
  line.Say("open", -ExitStatus(child));
  close(first);
  const int again = Open(O_RDWR | O_NONBLOCK);
  line.Say("then " + Opened(again));
  close(again);
}

void DupAndFork(Line& line) {
  const int first = Open(O_RDWR);
  const int twin = dup(first);
  close(first);
  line.Say("a dup stays: IsSM", IsSm());
  const pid_t child = StartWaiting(pause);
  close(twin);
  line.Say("a child's stays: IsSM", IsSm());
  line.Say("open " + Opened(Open(O_RDWR | O_NONBLOCK)));
  kill(child, SIGKILL);
  // The kernel closes a killed child's files before its parent hears of it.
  ExitStatus(child);
  line.Say("killed: IsSM", IsSm());
}

void Fops(Line& line) {
  const int fd = Open(O_RDWR);
  char bytes[400] = {};
  line.Say("read", read(fd, bytes, sizeof bytes) < 0 ? -errno : 0);
  line.Say("write", write(fd, bytes, sizeof bytes) < 0 ? -errno : 0);
  line.Say("ioctl", ioctl(fd, IB_USER_MAD_ENABLE_PKEY) < 0 ? -errno : 0);
  line.Say("lseek", lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0);
  pollfd asked{.fd = fd, .events = POLLIN | POLLOUT, .revents = 0};
  line.Say("poll", poll(&asked, 1, 0)).Say("events", asked.revents);
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{.events = EPOLLIN, .data = {}};
  line.Say("epoll",
           epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0);
  close(epoll);
  close(fd);
}

}  // namespace

std::vector<Case> IssmCases() {
  return {{"issm_exclusive", Exclusive},
          {"issm_blocks", Blocks},
          {"issm_signal", Interrupted},
          {"issm_dup_fork_kill", DupAndFork},
          {"issm_fops", Fops}};
}

}  // namespace umad_abi
