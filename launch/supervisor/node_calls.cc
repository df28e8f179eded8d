#include "launch/supervisor/node_calls.h"

#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_verbs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
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
#include <system_error>
#include <thread>
#include <utility>

#include "base/supervisor_ioctls.h"
#include "base/unique_fd.h"
#include "launch/supervisor/client_identity.h"
#include "launch/supervisor/fd_path.h"
#include "launch/supervisor/shown_node.h"
#include "sysfs/view.h"

namespace ibemu::launch {
namespace {

constexpr size_t kMaxThreads = 1024;
constexpr size_t kSpareThreads = 4;  // that wait when there is nothing to do
// An MPI program may open its device in hundreds of processes at a time, so
// shares count only when threads become scarce.  Most runs have one user: his
// share is more than one of his processes gets before they count.
constexpr CallShares::Limits kShares = {
    .free = 256, .of_process = 64, .of_user = 384};
// At a time, whatever a device says.
constexpr int kMaxEventFiles = 16;

// As many bytes at `address` as can be read, at most those of `buffer`.
size_t ReadMemory(pid_t tid, uint64_t address, void* buffer, size_t size) {
  constexpr uint64_t kPage = 4096;
  const size_t first = std::min<size_t>(size, kPage - address % kPage);
  const iovec local = {buffer, size};
  // A page that can't be read ends the transfer, but only between two entries.
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

constexpr mode_t AsCharacterDevice(mode_t mode) {
  return (mode & ~S_IFMT) | S_IFCHR;
}

std::optional<CallShares::Owner> CallerOf(pid_t tid) {
  const std::optional<ClientIdentity> client = ClientIdentity::Of(tid);
  if (!client) return std::nullopt;
  return CallShares::Owner{.process = client->process, .user = client->user};
}

}  // namespace

NodeCalls::NodeCalls(UniqueFd listener, NodeFds fds)
    : listener_(std::move(listener)), fds_(fds), shares_(kShares, &CallerOf) {}

void NodeCalls::Serve(UniqueFd listener, NodeFds fds) {
  const std::shared_ptr<NodeCalls> calls(
      new NodeCalls(std::move(listener), fds));
  calls->Run();
}

void NodeCalls::Run() {
  std::unique_lock lock(mutex_);
  if (!StartThread()) {
    // Where there may be no thread at all, this one lets calls go on.
    ++threads_;
    ++waiting_;
    lock.unlock();
    Loop();
    lock.lock();
  }
  left_.wait(lock, [this] { return waiting_ == 0 && ended_; });
}

void NodeCalls::Loop() {
  seccomp_notif call{};
  while (Receive(call)) {
    const std::optional<CallShares::Ticket> ticket =
        Begin(static_cast<pid_t>(call.pid));
    if (!ticket) {
      GoOn(call);
      continue;
    }
    Handle(call);
    if (!End(*ticket)) return;
  }
  Leave();
}

bool NodeCalls::Receive(seccomp_notif& call) {
  const std::lock_guard lock(receiving_);
  while (true) {
    pollfd ready = {listener_.get(), POLLIN, 0};
    if (poll(&ready, 1, -1) < 0) continue;
    if ((ready.revents & POLLIN) == 0) return false;  // POLLHUP: nobody is left
    call = {};
    if (ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) == 0) {
      return true;
    }
  }
}

std::optional<CallShares::Ticket> NodeCalls::Begin(pid_t tid) {
  const std::lock_guard lock(mutex_);
  const std::optional<CallShares::Ticket> ticket = shares_.Begin(tid);
  if (!ticket) return std::nullopt;
  if (waiting_ == 1 && !StartThread()) {
    shares_.End(*ticket);
    return std::nullopt;
  }
  --waiting_;
  return ticket;
}

bool NodeCalls::End(CallShares::Ticket ticket) {
  const std::lock_guard lock(mutex_);
  shares_.End(ticket);
  if (ended_ || waiting_ >= kSpareThreads) {
    --threads_;
    return false;
  }
  ++waiting_;
  return true;
}

bool NodeCalls::StartThread() {
  if (threads_ >= kMaxThreads) return false;
  try {
    std::thread([self = shared_from_this()] { self->Loop(); }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  ++threads_;
  ++waiting_;
  return true;
}

void NodeCalls::Leave() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  --threads_;
  --waiting_;
  left_.notify_all();
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
  const std::string_view name(text.data(), strnlen(text.data(), size));
  const std::optional<ShownNode> node = ShownNode::AtPath(name);
  if (name.size() == size || !node) return false;
  const std::optional<ClientIdentity> client = ClientIdentity::Of(pid);
  if (!client || !IsValid(call)) return false;
  const UniqueFd file = node->OpenFor(pid, *client, flags);
  const auto tid = static_cast<int32_t>(call.pid);
  if (!file.valid() || !IsValid(call) ||
      ioctl(file.get(), kOpenedFor, &tid) != 0) {
    return false;
  }
  if (node->verbs) GiveEventFiles(call, *client, file);
  GiveNode(call, client->process, file, (flags & O_CLOEXEC) != 0);
  return true;
}

void NodeCalls::GiveNode(const seccomp_notif& call, pid_t process,
                         const UniqueFd& file, bool close_on_exec) {
  for (int number = fds_.first; number < fds_.end(); ++number) {
    const std::pair<pid_t, int> place(process, number);
    {
      const std::lock_guard lock(mutex_);
      if (!numbers_.insert(place).second) continue;
    }
    struct stat status {};
    const std::string path =
        PathOfFd(static_cast<pid_t>(call.pid), static_cast<uint64_t>(number));
    const bool taken = lstat(path.c_str(), &status) == 0;
    const bool given =
        !taken && GiveOpened(call, file.get(), number, close_on_exec);
    {
      const std::lock_guard lock(mutex_);
      numbers_.erase(place);
    }
    if (given) return;
    // The limit was lowered, or all memory is in use; or it has gone.
    if (!taken) break;
  }
  Finish(call, EMFILE);
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
  const std::optional<OpenNode> open = OpenNode::Of(pid, arguments[0]);
  struct stat status {};
  if (!open || fstat(open->inode.get(), &status) != 0 || !IsValid(call)) {
    return false;
  }
  status.st_mode = AsCharacterDevice(status.st_mode);
  status.st_size = 0;
  const sysfs::DeviceNumber number = open->node.number;
  status.st_rdev = makedev(static_cast<unsigned>(number.major_number),
                           static_cast<unsigned>(number.minor_number));
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
  const std::optional<OpenNode> open = OpenNode::Of(pid, arguments[0]);
  struct statx status {};
  if (!open ||
      statx(open->inode.get(), "", AT_EMPTY_PATH,
            static_cast<unsigned>(arguments[3]), &status) != 0 ||
      !IsValid(call)) {
    return false;
  }
  status.stx_mode = static_cast<uint16_t>(AsCharacterDevice(status.stx_mode));
  status.stx_size = 0;
  const sysfs::DeviceNumber number = open->node.number;
  status.stx_rdev_major = static_cast<uint32_t>(number.major_number);
  status.stx_rdev_minor = static_cast<uint32_t>(number.minor_number);
  const bool written = WriteMemory(pid, arguments[4], &status, sizeof status);
  Finish(call, written ? 0 : EFAULT);
  return true;
}

// A program makes its channels, then its queues, or one after the other.
void NodeCalls::Write(const seccomp_notif& call) {
  const auto& arguments = call.data.args;
  const auto pid = static_cast<pid_t>(call.pid);
  ib_uverbs_cmd_hdr header{};
  if (ReadMemory(pid, arguments[1], &header, sizeof header) != sizeof header ||
      header.command != IB_USER_VERBS_CMD_CREATE_CQ) {
    return;
  }
  const std::optional<OpenNode> open = OpenNode::Of(pid, arguments[0]);
  const std::optional<ClientIdentity> client = ClientIdentity::Of(pid);
  if (open && open->node.verbs && client && IsValid(call)) {
    GiveEventFiles(call, *client, open->inode);
  }
}

void NodeCalls::GiveEventFiles(const seccomp_notif& call,
                               const ClientIdentity& client,
                               const UniqueFd& node) const {
  const auto tid = static_cast<int32_t>(call.pid);
  for (int i = 0; i < kMaxEventFiles; ++i) {
    UniqueFd events;
    {
      const ActingAs acting(client);
      if (!acting.ok()) return;
      events.Reset(open(PathOfOwn(node).c_str(), O_RDONLY | O_CLOEXEC));
    }
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
  return ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id) == 0;
}

void NodeCalls::Finish(const seccomp_notif& call, int error) const {
  seccomp_notif_resp response{};
  response.id = call.id;
  response.error = -error;
  ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void NodeCalls::GoOn(const seccomp_notif& call) const {
  seccomp_notif_resp response{};
  response.id = call.id;
  response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
}

bool NodeCalls::GiveOpened(const seccomp_notif& call, int fd, int number,
                           bool close_on_exec) const {
  seccomp_notif_addfd request{};
  request.id = call.id;
  request.flags = SECCOMP_ADDFD_FLAG_SETFD | SECCOMP_ADDFD_FLAG_SEND;
  request.srcfd = static_cast<uint32_t>(fd);
  request.newfd = static_cast<uint32_t>(number);
  request.newfd_flags = close_on_exec ? O_CLOEXEC : 0;
  return ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &request) >= 0;
}

int NodeCalls::Give(const seccomp_notif& call, int fd) const {
  seccomp_notif_addfd request{};
  request.id = call.id;
  request.srcfd = static_cast<uint32_t>(fd);
  request.newfd_flags = O_CLOEXEC;
  return ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &request);
}

}  // namespace ibemu::launch
