#include "cuse/client/caller_memory.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "base/unique_fd.h"
#include "cuse/client/proc_path.h"
#include "cuse/client/write_memory.h"

namespace ibemu::cuse {
namespace {

// A thread takes some microseconds from sending its request to sleep.
constexpr int kTries = 1000;

using ProcText = std::array<char, 512>;

absl::StatusOr<ProcText> ReadProc(pid_t tid, const char* name) {
  const auto path = ProcPath(tid, name);
  const UniqueFd fd(open(path.data(), O_RDONLY | O_CLOEXEC));
  ProcText text{};
  if (!fd.valid() || read(fd.get(), text.data(), text.size() - 1) < 0) {
    return absl::ErrnoToStatus(errno, path.data());
  }
  return text;
}

// Parses "0 0x5 0x7ffd… 0x100 …": number, six arguments, stack and instruction
// pointer; or "running"; or "-1 …" of a thread that is asleep or stopped
// outside of any call.
absl::StatusOr<BlockedCall> Parse(const char* text) {
  BlockedCall call;
  auto& [a, b, c, d, e, f] = call.arguments;
  if (std::sscanf(text,
                  "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
                  " %" SCNx64 " %" SCNx64,
                  &call.number, &a, &b, &c, &d, &e, &f) != 7) {
    if (call.number == -1) {
      return absl::FailedPreconditionError("in no system call");
    }
    return absl::UnavailableError("the thread is running");
  }
  return call;
}

absl::StatusOr<size_t> SizeOf(pid_t tid, int64_t number) {
  const absl::StatusOr<BlockedCall> call = CallOf(tid, kTries);
  if (!call.ok()) return call.status();
  if (call->number != number) {
    return absl::FailedPreconditionError("another system call");
  }
  return call->arguments[2];
}

}  // namespace

absl::StatusOr<BlockedCall> CallOf(pid_t tid, int tries) {
  absl::StatusOr<BlockedCall> call = absl::UnavailableError("not looked at");
  for (; tries > 0 && absl::IsUnavailable(call.status()); --tries) {
    const absl::StatusOr<ProcText> text = ReadProc(tid, "syscall");
    if (!text.ok()) return text.status();
    call = Parse(text->data());
    if (!call.ok()) sched_yield();
  }
  return call;
}

absl::StatusOr<size_t> SizeOfRead(pid_t tid) { return SizeOf(tid, SYS_read); }

absl::StatusOr<size_t> SizeOfWrite(pid_t tid) { return SizeOf(tid, SYS_write); }

absl::StatusOr<absl::Duration> CpuTimeOf(pid_t tid) {
  const absl::StatusOr<ProcText> text = ReadProc(tid, "schedstat");
  if (!text.ok()) return text.status();
  int64_t nanoseconds = 0;
  if (std::sscanf(text->data(), "%" SCNd64, &nanoseconds) != 1) {
    return absl::NotFoundError("no time in schedstat");
  }
  return absl::Nanoseconds(nanoseconds);
}

ClientId ClientOf(pid_t tid) {
  int process = tid;
  if (const absl::StatusOr<ProcText> text = ReadProc(tid, "status");
      text.ok()) {
    const char* line = std::strstr(text->data(), "\nTgid:");
    if (line == nullptr || std::sscanf(line, " Tgid: %d", &process) != 1) {
      process = tid;
    }
  }
  return ClientId{static_cast<uint64_t>(process)};
}

OwnerId UserOf(ClientId client) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%" PRIu64,
                static_cast<uint64_t>(client));
  struct stat status {};
  if (stat(path, &status) != 0) return OwnerId{UINT64_MAX};
  return OwnerId{status.st_uid};
}

absl::Status FillReadBuffer(pid_t tid, size_t room, mad::Bytes data) {
  const absl::StatusOr<BlockedCall> call = CallOf(tid, kTries);
  if (!call.ok()) return call.status();
  if (call->number != SYS_read || call->arguments[2] != room) {
    return absl::FailedPreconditionError("not in that read()");
  }
  return WriteMemory(tid, call->arguments[1], data);
}

}  // namespace ibemu::cuse
