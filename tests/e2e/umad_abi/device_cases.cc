// The device node: open, sizes, what is not there, headers, poll.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "cases.h"

namespace umad_abi {
namespace {

long ErrnoOf(long result) { return result < 0 ? -errno : result; }

void SysfsFiles(Line& line) {
  const std::string top = "/sys/class/infiniband_mad/";
  line.Say("abi_version " + FirstLine(top + "abi_version"));
  for (const char* name : {"umad0", "umad1", "issm0", "issm1"}) {
    line.Say(std::string(name) + " port " + FirstLine(top + name + "/port") +
             " dev " + FirstLine(top + name + "/dev"));
  }
}

void NodeStat(Line& line) {
  for (const char* name : {"umad0", "umad1", "issm0", "issm1"}) {
    struct stat status {};
    const std::string path = std::string("/dev/infiniband/") + name;
    if (stat(path.c_str(), &status) != 0) {
      line.Say(name, -errno);
      continue;
    }
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", status.st_mode & 07777U);
    line.Say(std::string(name) +
             (S_ISCHR(status.st_mode) ? " char " : " file ") +
             std::to_string(major(status.st_rdev)) + ":" +
             std::to_string(minor(status.st_rdev)) + " mode " + mode);
  }
}

void OpenModes(Line& line) {
  const Umad reader(0, O_RDONLY);
  line.Say("O_RDONLY: register", reader.Register({}));
  line.Say("write", reader.Send(0, {}, Mad(kPerf, kGet, 1)));
  const Umad writer(0, O_WRONLY);
  line.Say("O_WRONLY: register", writer.Register({}));
  line.Say("read", writer.Read().result);
  const Umad third(0);
  line.Say("O_RDWR: register", third.Register({}));
}

void MiscFops(Line& line) {
  const Umad umad(0);
  char bytes[400] = {};
  line.Say("lseek", ErrnoOf(lseek(umad.fd(), 0, SEEK_SET)));
  line.Say("pread", ErrnoOf(pread(umad.fd(), bytes, sizeof bytes, 0)));
  line.Say("pwrite", ErrnoOf(pwrite(umad.fd(), bytes, sizeof bytes, 0)));
  void* const at = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, umad.fd(), 0);
  line.Say("mmap", at == MAP_FAILED ? -errno : 0);
  line.Say("fsync", ErrnoOf(fsync(umad.fd())));
  line.Say("unknown ioctl", ErrnoOf(ioctl(umad.fd(), _IO(0x1b, 9), bytes)));
  line.Say("wrong size",
           ErrnoOf(ioctl(umad.fd(), _IOWR(0x1b, 1, char[8]), bytes)));
}

void Truncate(Line& line) {
  const Umad umad(0);
  line.Say("ftruncate", ErrnoOf(ftruncate(umad.fd(), 0)));
  const Umad truncating(1, O_RDWR | O_TRUNC | O_NONBLOCK);
  line.Say("O_TRUNC", truncating.fd() < 0 ? -1 : 0);
}

void BytesToRead(Line& line) {
  const Umad umad(0);
  int bytes = 0;
  line.Say("FIONREAD", ErrnoOf(ioctl(umad.fd(), FIONREAD, &bytes)));
}

// The page behind the one that the MAD begins in is missing.
void WriteFaults(Line& line) {
  constexpr size_t kPage = 4096;
  const Umad umad(0);
  const ib_user_mad_hdr header =
      HeaderFor(umad.Register({}), {.lid = LidOf(1)});
  const Bytes mad = Mad(kPerf, kGet, 1);
  char* const pages =
      static_cast<char*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(pages + kPage, kPage, PROT_NONE);
  for (const size_t there : {50, 80, 200, 319}) {
    char* const at = pages + kPage - there;
    for (size_t i = 0; i < there; ++i) {
      at[i] = i < sizeof header ? reinterpret_cast<const char*>(&header)[i]
                                : static_cast<char>(mad[i - sizeof header]);
    }
    line.Say(std::to_string(there),
             ErrnoOf(write(umad.fd(), at, sizeof header + mad.size())));
  }
  munmap(pages, 2 * kPage);
}

void ReadSizesEmpty(Line& line) {
  const Umad umad(0);
  for (const size_t room : {0, 1, 63, 64, 320}) {
    line.Say(std::to_string(room), umad.Read(room).result);
  }
  const Umad old(0, O_RDWR | O_NONBLOCK, /*old_header=*/true);
  line.Say("old header");
  for (const size_t room : {55, 56}) {
    line.Say(std::to_string(room), old.Read(room).result);
  }
}

void WriteSizesNoAgent(Line& line) {
  const Umad umad(0);
  Bytes data(400);
  for (const size_t size : {0, 1, 64, 64 + 35, 64 + 36, 64 + 256}) {
    line.Say(std::to_string(size),
             ErrnoOf(write(umad.fd(), data.data(), size)));
  }
  line.Say("bad pointer", ErrnoOf(write(umad.fd(), NoPage(), 320)));
}

void WriteBadId(Line& line) {
  const Umad umad(0);
  for (const int id : {0, 31, 32, -1}) {
    line.Say("id " + std::to_string(id),
             umad.Send(id, {}, Mad(kPerf, kGet, 1)));
  }
}

void Vectored(Line& line) {
  const Umad umad(0);
  ib_user_mad_hdr header = HeaderFor(umad.Register({}), {.lid = LidOf(1)});
  Bytes mad = Mad(kPerf, kGet, 1);
  const iovec parts[] = {{&header, sizeof header}, {mad.data(), mad.size()}};
  line.Say("writev", ErrnoOf(writev(umad.fd(), parts, 2)));
  umad.Send(0, {.timeout_ms = 10'000}, Mad(kPerf, kGet, 2, 1));
  umad.WaitReadable();
  line.Say("readv", ErrnoOf(readv(umad.fd(), parts, 2)));
}

void EnablePKey(Line& line) {
  const Umad umad(0, O_RDWR | O_NONBLOCK, /*old_header=*/true);
  line.Say("first", umad.EnablePKey()).Say("again", umad.EnablePKey());
  line.Say("failed registration", umad.Register({.qpn = 2}));
  umad.Read(64);
  line.Say("then", umad.EnablePKey());
  umad.Unregister(static_cast<uint32_t>(umad.Register({})));
  line.Say("after one that succeeded", umad.EnablePKey());

  const Umad second(0, O_RDWR | O_NONBLOCK, /*old_header=*/true);
  second.Register2({});
  line.Say("after AGENT2", second.EnablePKey());
  line.Say("room for 63", second.Read(63).result);
  const Umad third(0, O_RDWR | O_NONBLOCK, /*old_header=*/true);
  third.Register({});
  third.Register2({});
  line.Say("AGENT, then AGENT2: room for 56", third.Read(56).result);
}

std::string Events(short events) {
  std::string names;
  for (const auto& [bit, name] : {std::pair{POLLIN, "IN"},
                                  {POLLRDNORM, "RDNORM"},
                                  {POLLOUT, "OUT"},
                                  {POLLWRNORM, "WRNORM"},
                                  {POLLPRI, "PRI"},
                                  {POLLERR, "ERR"},
                                  {POLLHUP, "HUP"},
                                  {POLLNVAL, "NVAL"}}) {
    if ((events & bit) != 0)
      names += std::string(names.empty() ? "" : "|") + name;
  }
  return names;
}

// Lets an answer of the other end's PMA be readable.
void Ask(const Umad& umad, int agent) {
  umad.Send(agent, {.timeout_ms = 10'000}, Mad(kPerf, kGet, 1, 1));
  umad.WaitReadable();
}

void PollMasks(Line& line) {
  const Umad umad(0);
  const int agent = umad.Register({});
  line.Say("empty " + Events(umad.PollNow()));
  Ask(umad, agent);
  line.Say("a MAD " + Events(umad.PollNow()));
  line.Say("too small a read", umad.Read(64).result);
  line.Say("still " + Events(umad.PollNow()));
  umad.Read();
  line.Say("read " + Events(umad.PollNow()));
}

void PollSelect(Line& line) {
  const Umad umad(0);
  const int agent = umad.Register({});
  for (const bool full : {false, true}) {
    if (full) Ask(umad, agent);
    fd_set in, out, other;
    for (fd_set* set : {&in, &out, &other}) FD_ZERO(set);
    for (fd_set* set : {&in, &out, &other}) FD_SET(umad.fd(), set);
    timeval now{};
    line.Say(full ? "a MAD: ready" : "empty: ready",
             select(umad.fd() + 1, &in, &out, &other, &now));
    line.Say(std::string(FD_ISSET(umad.fd(), &in) ? "in" : "not in") +
             (FD_ISSET(umad.fd(), &out) ? " and out" : " and not out"));
  }
}

void EpollEdge(Line& line) {
  const Umad umad(0);
  const int agent = umad.Register({});
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, umad.fd(), &event);
  line.Say("empty", epoll_wait(epoll, &event, 1, 0));
  for (const char* which : {"first", "second, none read"}) {
    umad.Send(agent, {.timeout_ms = 10'000}, Mad(kPerf, kGet, which[0], 1));
    line.Say(which, epoll_wait(epoll, &event, 1, 10'000));
    line.Say("again", epoll_wait(epoll, &event, 1, 0));
  }
  close(epoll);
}

}  // namespace

std::vector<Case> DeviceCases() {
  return {{"sysfs_files", SysfsFiles},
          {"node_stat", NodeStat},
          {"open_modes", OpenModes},
          {"misc_fops", MiscFops},
          {"truncate", Truncate},
          {"bytes_to_read", BytesToRead},
          {"read_sizes_empty", ReadSizesEmpty},
          {"write_sizes_noagent", WriteSizesNoAgent},
          {"write_faults", WriteFaults},
          {"write_bad_id", WriteBadId},
          {"vectored", Vectored},
          {"enable_pkey", EnablePKey},
          {"poll_masks", PollMasks},
          {"poll_select", PollSelect},
          {"epoll_edge", EpollEdge}};
}

}  // namespace umad_abi
