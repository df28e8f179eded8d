#include "testing/kernel_side.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "gtest/gtest.h"

namespace ibemu::testing {
namespace {

template <class T>
T Decode(std::span<const std::byte> from) {
  T value{};
  if (from.empty()) return value;  // an error came without it
  std::memcpy(&value, from.data(), std::min(sizeof value, from.size()));
  return value;
}

// Returns `name` and the zero that ends it.
std::vector<std::byte> Name(std::string_view name) {
  std::vector<std::byte> bytes(name.size() + 1);
  std::memcpy(bytes.data(), name.data(), name.size());
  return bytes;
}

}  // namespace

KernelSide::KernelSide() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    ADD_FAILURE() << "socketpair: " << std::strerror(errno);
    return;
  }
  kernel_.Reset(ends[0]);
  server_.Reset(ends[1]);
}

uint64_t KernelSide::Send(uint32_t opcode, uint64_t node,
                          std::initializer_list<Bytes> parts) {
  fuse_in_header header{};
  header.opcode = opcode;
  header.unique = ++last_request_;
  header.nodeid = node;
  header.uid = uid_;
  header.gid = gid_;
  header.pid = static_cast<uint32_t>(tid_);
  header.len = sizeof header;
  for (const Bytes part : parts) {
    header.len += static_cast<uint32_t>(part.size());
  }
  std::vector<iovec> vector = {{&header, sizeof header}};
  for (const Bytes part : parts) {
    vector.push_back({const_cast<std::byte*>(part.data()), part.size()});
  }
  EXPECT_EQ(
      writev(kernel_.get(), vector.data(), static_cast<int>(vector.size())),
      static_cast<ssize_t>(header.len))
      << std::strerror(errno);
  return header.unique;
}

void KernelSide::Receive() {
  std::vector<std::byte> buffer(kPiece + 4096);
  for (;;) {
    const ssize_t size =
        recv(kernel_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size <= 0) return;
    const std::span<const std::byte> message(buffer.data(),
                                             static_cast<size_t>(size));
    const auto header = Decode<fuse_out_header>(message);
    EXPECT_EQ(header.len, message.size());
    if (header.unique == 0) {
      EXPECT_EQ(header.error, FUSE_NOTIFY_POLL);
      ++notifications_;
      continue;
    }
    const auto data = message.subspan(sizeof header);
    const auto [it, fresh] = replies_.insert(
        {header.unique, {-header.error, {data.begin(), data.end()}}});
    EXPECT_TRUE(fresh) << "two answers to one request";
  }
}

std::optional<KernelSide::Reply> KernelSide::Take(uint64_t request) {
  pump_();
  Receive();
  auto node = replies_.extract(request);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

KernelSide::Reply KernelSide::Wait(uint64_t request) {
  std::optional<Reply> reply = Take(request);
  if (!reply) {
    ADD_FAILURE() << "no answer to request " << request;
    return {.error = ETIMEDOUT, .data = {}};
  }
  return *std::move(reply);
}

KernelSide::Reply KernelSide::WaitForWorker(uint64_t request) {
  while (wait_) {
    if (std::optional<Reply> reply = Take(request)) return *std::move(reply);
    wait_();
  }
  return Wait(request);
}

void KernelSide::Init(uint32_t minor) {
  fuse_init_in in{};
  in.major = FUSE_KERNEL_VERSION;
  in.minor = minor;
  in.max_readahead = kPiece;
  in.flags = FUSE_ASYNC_READ | FUSE_ATOMIC_O_TRUNC | FUSE_BIG_WRITES |
             FUSE_PARALLEL_DIROPS;
  const Reply reply = Call(FUSE_INIT, 0, {AsBytes(in)});
  EXPECT_EQ(reply.error, 0);
  EXPECT_EQ(Decode<fuse_init_out>(reply.data).max_write, kPiece);
}

uint64_t KernelSide::StartCuse() {
  cuse_init_in in{};
  in.major = FUSE_KERNEL_VERSION;
  in.minor = FUSE_KERNEL_MINOR_VERSION;
  return Send(CUSE_INIT, FUSE_ROOT_ID, {AsBytes(in)});
}

KernelSide::Device KernelSide::FinishCuse(uint64_t request) {
  constexpr std::string_view kKey = "DEVNAME=";
  const Reply reply = Wait(request);
  const auto out = Decode<cuse_init_out>(reply.data);
  Device device{reply.error, out.dev_major, out.dev_minor, ""};
  if (reply.data.size() <= sizeof out) return device;
  // The rest are strings, each with its zero.
  const std::string_view info =
      reinterpret_cast<const char*>(reply.data.data() + sizeof out);
  if (info.starts_with(kKey)) device.name = info.substr(kKey.size());
  return device;
}

KernelSide::Entry KernelSide::Lookup(uint64_t parent, std::string_view name) {
  const Reply reply = Call(FUSE_LOOKUP, parent, {Name(name)});
  return {reply.error, Decode<fuse_entry_out>(reply.data)};
}

KernelSide::Entry KernelSide::Walk(std::string_view path) {
  Entry entry;
  entry.out.nodeid = FUSE_ROOT_ID;
  while (!path.empty() && entry.error == 0) {
    const size_t end = std::min(path.find('/'), path.size());
    entry = Lookup(entry.out.nodeid, path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return entry;
}

void KernelSide::Forget(uint64_t node, uint64_t times) {
  const fuse_forget_in in = {.nlookup = times};
  Send(FUSE_FORGET, node, {AsBytes(in)});
  pump_();
}

std::string KernelSide::ReadLink(uint64_t node) {
  const Reply reply = Call(FUSE_READLINK, node, {});
  EXPECT_EQ(reply.error, 0);
  return {reinterpret_cast<const char*>(reply.data.data()), reply.data.size()};
}

std::vector<KernelSide::DirectoryEntry> KernelSide::ReadDirectory(
    uint64_t directory, uint64_t offset, uint32_t size) {
  std::vector<DirectoryEntry> entries;
  fuse_read_in in{};
  in.offset = offset;
  in.size = size;
  const Reply reply = Call(FUSE_READDIR, directory, {AsBytes(in)});
  EXPECT_EQ(reply.error, 0);
  Bytes left = reply.data;
  while (!left.empty()) {
    const auto entry = Decode<fuse_dirent>(left);
    const size_t at = offsetof(fuse_dirent, name);
    entries.push_back(
        {{reinterpret_cast<const char*>(&left[at]), entry.namelen}, entry.off});
    left = left.subspan(
        std::min<size_t>(left.size(), FUSE_DIRENT_ALIGN(at + entry.namelen)));
  }
  return entries;
}

std::vector<std::string> KernelSide::List(uint64_t directory) {
  std::vector<std::string> names;
  uint64_t offset = 0;
  for (;;) {
    const auto entries = ReadDirectory(directory, offset, 4096);
    if (entries.empty()) return names;
    for (const DirectoryEntry& entry : entries) names.push_back(entry.name);
    offset = entries.back().next;
  }
}

KernelSide::OpenFile KernelSide::OpenDirectory(uint64_t node) {
  const fuse_open_in in{};
  return FinishOpen(Send(FUSE_OPENDIR, node, {AsBytes(in)}), node);
}

uint64_t KernelSide::StartOpen(uint64_t node, uint32_t flags) {
  fuse_open_in in{};
  in.flags = flags;
  return Send(FUSE_OPEN, node, {AsBytes(in)});
}

KernelSide::OpenFile KernelSide::FinishOpen(uint64_t request, uint64_t node) {
  const Reply reply = Wait(request);
  const auto out = Decode<fuse_open_out>(reply.data);
  return {reply.error, node, out.fh, out.open_flags};
}

KernelSide::OpenFile KernelSide::Open(uint64_t node, uint32_t flags) {
  return FinishOpen(StartOpen(node, flags), node);
}

KernelSide::OpenFile KernelSide::Open(std::string_view path, uint32_t flags) {
  const Entry entry = Walk(path);
  if (entry.error != 0) return {.error = entry.error};
  return Open(entry.out.nodeid, flags);
}

void KernelSide::Release(const OpenFile& file) {
  fuse_release_in in{};
  in.fh = file.handle;
  const pid_t caller = std::exchange(tid_, 0);  // as the kernel does
  EXPECT_EQ(Call(FUSE_RELEASE, file.node, {AsBytes(in)}).error, 0);
  tid_ = caller;
}

uint64_t KernelSide::StartRead(const OpenFile& file, size_t size,
                               uint64_t offset, uint32_t flags) {
  fuse_read_in in{};
  in.fh = file.handle;
  in.offset = offset;
  in.size = static_cast<uint32_t>(size);
  in.flags = flags;
  return Send(FUSE_READ, file.node, {AsBytes(in)});
}

KernelSide::Reply KernelSide::Read(const OpenFile& file, size_t size,
                                   uint64_t offset, uint32_t flags) {
  return Wait(StartRead(file, size, offset, flags));
}

KernelSide::Reply KernelSide::Write(const OpenFile& file, Bytes data,
                                    uint64_t offset, uint32_t flags) {
  fuse_write_in in{};
  in.fh = file.handle;
  in.offset = offset;
  in.size = static_cast<uint32_t>(data.size());
  in.flags = flags;
  Reply reply = Call(FUSE_WRITE, file.node, {AsBytes(in), data});
  if (reply.error == 0) {
    EXPECT_EQ(Decode<fuse_write_out>(reply.data).size, data.size());
  }
  return reply;
}

uint64_t KernelSide::StartIoctl(const OpenFile& file, uint32_t command,
                                Bytes in, size_t out_size) {
  fuse_ioctl_in header{};
  header.fh = file.handle;
  header.cmd = command;
  header.arg = reinterpret_cast<uintptr_t>(in.data());
  header.in_size = static_cast<uint32_t>(in.size());
  header.out_size = static_cast<uint32_t>(out_size);
  return Send(FUSE_IOCTL, file.node, {AsBytes(header), in});
}

KernelSide::IoctlResult KernelSide::Ioctl(const OpenFile& file,
                                          uint32_t command, Bytes in,
                                          size_t out_size) {
  const Reply reply = WaitForWorker(StartIoctl(file, command, in, out_size));
  if (reply.error != 0) return {reply.error, {}};
  const auto out = Decode<fuse_ioctl_out>(reply.data);
  const Bytes data = Bytes(reply.data).subspan(sizeof out);
  EXPECT_LE(data.size(), out_size);
  return {-out.result, {data.begin(), data.end()}};
}

int KernelSide::Poll(const OpenFile& file, bool notify) {
  fuse_poll_in in{};
  in.fh = file.handle;
  in.kh = file.handle + 1;
  in.flags = notify ? FUSE_POLL_SCHEDULE_NOTIFY : 0;
  in.events = 0xffff;
  const Reply reply = Call(FUSE_POLL, file.node, {AsBytes(in)});
  if (reply.error != 0) return -reply.error;
  return static_cast<int>(Decode<fuse_poll_out>(reply.data).revents);
}

void KernelSide::Interrupt(uint64_t request) {
  const fuse_interrupt_in in = {.unique = request};
  Send(FUSE_INTERRUPT, 0, {AsBytes(in)});
  pump_();
}

int KernelSide::TakeNotifications() {
  pump_();
  Receive();
  return std::exchange(notifications_, 0);
}

}  // namespace ibemu::testing
