#include "launch/node_calls.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <poll.h>
#include <rdma/ib_user_verbs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "base/event_number.h"
#include "base/unique_fd.h"
#include "launch/seccomp.h"
#include "sysfs/view.h"

namespace ibemu::launch {
namespace {

constexpr std::string_view kNode = "/dev/infiniband/uverbs";
constexpr int kThreads = 4;

// As many bytes at `address` as can be read, at most those of `buffer`.
size_t ReadMemory(pid_t tid, uint64_t address, void* buffer, size_t size) {
  constexpr uint64_t kPage = 4096;
  const size_t first = std::min<size_t>(size, kPage - address % kPage);
  const iovec local = {buffer, size};
  // What can't be read ends the transfer, between two of these.
  const std::array<iovec, 2> remote = {
      iovec{reinterpret_cast<void*>(address), first},
      iovec{reinterpret_cast<void*>(address + first), size - first}};
  const ssize_t done =
      process_vm_readv(tid, &local, 1, remote.data(), remote.size(), 0);
  return done < 0 ? 0 : static_cast<size_t>(done);
}

bool WriteMemory(pid_t tid, uint64_t address, const void* data, size_t size) {
  const iovec local = {const_cast<void*>(data), size};
  const iovec remote = {reinterpret_cast<void*>(address), size};
  return process_vm_writev(tid, &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(size);
}

// The N of "uverbsN" at the end of a path, or of ".uverbsN", which can be
// opened (cuse::TreeNode).
std::optional<int> NodeNumber(std::string_view path) {
  constexpr std::string_view kName = "uverbs";
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with('.')) name.remove_prefix(1);
  int number = 0;
  if (!name.starts_with(kName) ||
      !absl::SimpleAtoi(Absl(name.substr(kName.size())), &number) ||
      number < 0 || number >= sysfs::kMaxViewDevices) {
    return std::nullopt;
  }
  return number;
}

std::string PathOfFd(const seccomp_notif& call, uint64_t fd) {
  return absl::StrCat("/proc/", call.pid, "/fd/", static_cast<int>(fd));
}

bool IsFuse(const struct statfs& file_system) {
  return file_system.f_type == FUSE_SUPER_MAGIC;
}

// The N of uverbsN, if that descriptor of the client is one of ours.
std::optional<int> NodeOfFd(const std::string& path) {
  struct statfs file_system {};
  if (statfs(path.c_str(), &file_system) != 0 || !IsFuse(file_system)) {
    return std::nullopt;
  }
  std::array<char, 256> name{};
  const ssize_t size = readlink(path.c_str(), name.data(), name.size());
  if (size < 0) return std::nullopt;
  std::string_view target(name.data(), static_cast<size_t>(size));
  // Somebody has looked the path up since, and got another inode.
  constexpr std::string_view kForgotten = " (deleted)";
  if (target.ends_with(kForgotten)) target.remove_suffix(kForgotten.size());
  return NodeNumber(target);
}

// The file behind the character device `path`, as the client would open it: its
// root directory counts.
UniqueFd OpenAsClient(const seccomp_notif& call, std::string_view path,
                      uint64_t flags) {
  const size_t name = path.rfind('/') + 1;
  const std::string file =
      absl::StrCat(Absl(path.substr(0, name)), ".", Absl(path.substr(name)));
  const UniqueFd root(open(absl::StrCat("/proc/", call.pid, "/root").c_str(),
                           O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return UniqueFd();
  open_how how{};
  how.flags = O_RDWR | O_CLOEXEC | (flags & O_NONBLOCK);
  how.resolve = RESOLVE_IN_ROOT;
  return UniqueFd(static_cast<int>(
      syscall(SYS_openat2, root.get(), file.c_str(), &how, sizeof how)));
}

bool IsOurs(int fd) {
  struct statfs file_system {};
  struct stat status {};
  return fstatfs(fd, &file_system) == 0 && IsFuse(file_system) &&
         fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

constexpr mode_t AsCharacterDevice(mode_t mode) {
  return (mode & ~S_IFMT) | S_IFCHR;
}

}  // namespace

void NodeCalls::Serve() {
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([this] { Loop(); });
  for (std::thread& thread : threads) thread.join();
}

void NodeCalls::Loop() {
  while (true) {
    seccomp_notif call{};
    {
      const std::lock_guard lock(receiving_);
      pollfd ready = {listener_, POLLIN, 0};
      if (poll(&ready, 1, -1) < 0) continue;
      if ((ready.revents & POLLIN) == 0) return;  // POLLHUP: nobody is left
      if (ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;
    }
    Handle(call);
  }
}

void NodeCalls::Handle(const seccomp_notif& call) {
  const auto& arguments = call.data.args;
  switch (call.data.nr) {
    case SYS_openat:
      if (Open(call, arguments[1], arguments[2])) return;
      break;
#ifdef SYS_open
    case SYS_open:
      if (Open(call, arguments[0], arguments[1])) return;
      break;
#endif
    case SYS_fstat:
    case SYS_newfstatat:
      if (Stat(call)) return;
      break;
    case SYS_statx:
      if (StatX(call)) return;
      break;
    case SYS_write:
      Write(call);
      break;
    default:
      break;
  }
  GoOn(call);
}

bool NodeCalls::Open(const seccomp_notif& call, uint64_t path, uint64_t flags) {
  std::array<char, 64> text;
  const auto pid = static_cast<pid_t>(call.pid);
  const size_t size = ReadMemory(pid, path, text.data(), text.size());
  const std::string name(text.data(), strnlen(text.data(), size));
  if (name.size() == size || !name.starts_with(kNode) || !NodeNumber(name)) {
    return false;
  }
  const UniqueFd file = OpenAsClient(call, name, flags);
  if (!file.valid() || !IsOurs(file.get()) || !IsValid(call)) return false;
  GiveEventFiles(call, absl::StrCat("/proc/self/fd/", file.get()));
  const std::lock_guard lock(giving_);  // two must not choose one number
  for (int number = first_fd_; number < first_fd_ + kNodeFds; ++number) {
    struct stat status {};
    if (lstat(PathOfFd(call, static_cast<uint64_t>(number)).c_str(), &status) ==
        0) {
      continue;
    }
    if (GiveOpened(call, file.get(), number, (flags & O_CLOEXEC) != 0)) {
      return true;
    }
    // The limit was lowered, or all memory is in use; or it has gone.
    Finish(call, EMFILE);
    return true;
  }
  Finish(call, EMFILE);
  return true;
}

bool NodeCalls::Stat(const seccomp_notif& call) {
  const auto& arguments = call.data.args;
  const auto pid = static_cast<pid_t>(call.pid);
  uint64_t buffer = arguments[1];
  if (call.data.nr == SYS_newfstatat) {
    char first = 0;
    if (ReadMemory(pid, arguments[1], &first, 1) == 1 && first != '\0') {
      return false;
    }
    buffer = arguments[2];
  }
  const std::string path = PathOfFd(call, arguments[0]);
  const std::optional<int> node = NodeOfFd(path);
  struct stat status {};
  if (!node || stat(path.c_str(), &status) != 0 || !IsValid(call)) {
    return false;
  }
  status.st_mode = AsCharacterDevice(status.st_mode);
  status.st_rdev = makedev(sysfs::kMajor,
                           static_cast<unsigned>(sysfs::kFirstUverbs + *node));
  Finish(call, WriteMemory(pid, buffer, &status, sizeof status) ? 0 : EFAULT);
  return true;
}

bool NodeCalls::StatX(const seccomp_notif& call) {
  const auto& arguments = call.data.args;
  const auto pid = static_cast<pid_t>(call.pid);
  char first = 0;
  if (ReadMemory(pid, arguments[1], &first, 1) == 1 && first != '\0') {
    return false;
  }
  const std::string path = PathOfFd(call, arguments[0]);
  const std::optional<int> node = NodeOfFd(path);
  struct statx status {};
  if (!node ||
      statx(AT_FDCWD, path.c_str(), 0, static_cast<unsigned>(arguments[3]),
            &status) != 0 ||
      !IsValid(call)) {
    return false;
  }
  status.stx_mode = static_cast<uint16_t>(AsCharacterDevice(status.stx_mode));
  status.stx_rdev_major = sysfs::kMajor;
  status.stx_rdev_minor = static_cast<uint32_t>(sysfs::kFirstUverbs + *node);
  const bool written = WriteMemory(pid, arguments[4], &status, sizeof status);
  Finish(call, written ? 0 : EFAULT);
  return true;
}

// A program makes its channels, then its queues, or one after the other.
void NodeCalls::Write(const seccomp_notif& call) {
  const auto& arguments = call.data.args;
  ib_uverbs_cmd_hdr header{};
  if (ReadMemory(static_cast<pid_t>(call.pid), arguments[1], &header,
                 sizeof header) != sizeof header ||
      header.command != IB_USER_VERBS_CMD_CREATE_CQ) {
    return;
  }
  const std::string path = PathOfFd(call, arguments[0]);
  if (NodeOfFd(path)) GiveEventFiles(call, path);
}

void NodeCalls::GiveEventFiles(const seccomp_notif& call,
                               const std::string& path) const {
  const auto tid = static_cast<int32_t>(call.pid);
  while (true) {
    const UniqueFd events(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!events.valid() || !IsValid(call) ||
        ioctl(events.get(), kOfferEventFile, &tid) != 0) {
      return;
    }
    const int number = Give(call, events.get());
    if (number < 0) return;
    const EventNumber told{.tid = tid, .number = number};
    if (ioctl(events.get(), kNumberEventFile, &told) != 0) return;
  }
}

bool NodeCalls::IsValid(const seccomp_notif& call) const {
  return ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id) == 0;
}

void NodeCalls::Finish(const seccomp_notif& call, int error) const {
  seccomp_notif_resp response{};
  response.id = call.id;
  response.error = -error;
  ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void NodeCalls::GoOn(const seccomp_notif& call) const {
  seccomp_notif_resp response{};
  response.id = call.id;
  response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

bool NodeCalls::GiveOpened(const seccomp_notif& call, int fd, int number,
                           bool close_on_exec) const {
  seccomp_notif_addfd request{};
  request.id = call.id;
  request.flags = SECCOMP_ADDFD_FLAG_SETFD | SECCOMP_ADDFD_FLAG_SEND;
  request.srcfd = static_cast<uint32_t>(fd);
  request.newfd = static_cast<uint32_t>(number);
  request.newfd_flags = close_on_exec ? O_CLOEXEC : 0;
  return ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &request) >= 0;
}

int NodeCalls::Give(const seccomp_notif& call, int fd) const {
  seccomp_notif_addfd request{};
  request.id = call.id;
  request.srcfd = static_cast<uint32_t>(fd);
  request.newfd_flags = O_CLOEXEC;
  return ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &request);
}

}  // namespace ibemu::launch
