#include "cuse/fuse/fuse_devices.h"

#include <fcntl.h>
#include <linux/fuse.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/supervisor_ioctls.h"
#include "cuse/client/argument_probe.h"
#include "cuse/client/caller_memory.h"
#include "cuse/client/no_space.h"
#include "cuse/fuse/long_reads.h"
#include "cuse/fuse/long_writes.h"
#include "cuse/fuse/poll_waiters.h"

namespace ibemu::cuse {
namespace {

fuse_req_t RequestOf(RequestId id) { return reinterpret_cast<fuse_req_t>(id); }

RequestId IdOf(fuse_req_t request) {
  return RequestId{reinterpret_cast<uintptr_t>(request)};
}

// Returns true if `tid` is in a write() of more than `size` bytes.
bool IsCut(pid_t tid, size_t size) {
  const absl::StatusOr<size_t> whole = SizeOfWrite(tid);
  return whole.ok() && *whole > size;
}

}  // namespace

// One open device file.
struct FuseDevices::Handle {
  Handle(Timers& timers, std::unique_ptr<File> served, const fuse_ctx& caller,
         CallBudget& budget)
      : file(std::move(served)),
        user(caller.uid),
        group(caller.gid),
        waiters(timers, *file),
        reads(timers, budget),
        writes(timers, *file, budget) {}

  std::unique_ptr<File> file;
  // Who opened it: file system ids, and, if they count, credentials.
  const uid_t user;
  const gid_t group;
  std::optional<Credentials> opener;

  // False when the opener is settled: a supervisor has told it, or somebody
  // wants to write.
  bool may_be_told_opener = true;

  void SetOpener(const Credentials* credentials) {
    opener.reset();
    if (credentials != nullptr) opener = *credentials;
  }
  PollWaiters waiters;
  LongReads reads;
  LongWrites writes;
};

// Runs a call of `handle`'s file.  If the file keeps the reply, later signals
// to the client interrupt the request.
template <class Call>
void FuseDevices::Dispatch(fuse_req_t request, Handle& handle, Call call) {
  running_ = IdOf(request);
  call(running_);
  if (std::exchange(running_, RequestId{}) == IdOf(request)) {
    fuse_req_interrupt_func(request, &OnInterrupt, &handle);
  }
}

FuseDevices::FuseDevices(Timers& timers, WorkerPool& workers,
                         std::optional<uid_t> supervisor)
    : timers_(timers),
      workers_(workers),
      supervisor_(supervisor),
      self_(std::make_shared<FuseDevices*>(this)) {}

FuseDevices::~FuseDevices() {
  *self_ = nullptr;
  for (const fuse_req_t request : at_worker_) {
    ReplyError(request, Errno::kIo);
  }
  handles_.Clear();  // their replies come back to this
}

void FuseDevices::OnInterrupt(fuse_req_t request, void* handle) {
  static_cast<Handle*>(handle)->file->Interrupt(IdOf(request));
}

fuse_req_t FuseDevices::Settle(RequestId id) {
  if (running_ == id) running_ = RequestId{};
  return RequestOf(id);
}

void FuseDevices::Open(fuse_req_t request, std::unique_ptr<File> file,
                       int flags, uint32_t open_flags) {
  const fuse_ctx& caller = *fuse_req_ctx(request);
  const uint64_t number = handles_.Add(
      std::make_unique<Handle>(timers_, std::move(file), caller, *budget_));
  opening_.emplace(IdOf(request), Opening{number, open_flags});
  Handle& handle = *handles_.Find(number);
  if (handle.file->IsForOpenerOnly()) {
    handle.SetOpener(credentials_.Of(caller.pid));
  }
  Dispatch(request, handle, [&](RequestId id) {
    handle.file->Open((flags & O_NONBLOCK) != 0, OpenReply(*this, id));
  });
}

void FuseDevices::SendOpened(RequestId id) {
  const Opening opening = opening_.extract(id).mapped();

  // fuse_reply_open() can't be used, as this libfuse does not know
  // FOPEN_STREAM.
  fuse_open_out answer{};  // its last field has one name or another
  answer.fh = opening.handle;
  answer.open_flags = opening.open_flags;
  if (fuse_reply_buf(Settle(id), reinterpret_cast<const char*>(&answer),
                     sizeof answer) != 0) {
    RemoveSoon(opening.handle);  // the client is gone, and no RELEASE will come
  }
}

void FuseDevices::SendError(RequestId id, Errno error) {
  if (!opening_.empty()) {
    if (const auto opening = opening_.extract(id)) {
      RemoveSoon(opening.mapped().handle);
    }
  }
  if (!long_reads_.empty()) long_reads_.erase(id);
  if (!long_writes_.empty()) long_writes_.erase(id);
  ReplyError(Settle(id), error);
}

// Removes the file later, because it must not end within its own call.
void FuseDevices::RemoveSoon(uint64_t number) {
  timers_.RunSoon([self = self_, number] {
    if (*self != nullptr) (*self)->handles_.Remove(number);
  });
}

void FuseDevices::Read(fuse_req_t request, size_t size, off_t offset,
                       const fuse_file_info& info) {
  Handle* const handle = handles_.Find(info.fh);
  if (handle == nullptr) return ReplyError(request, Errno::kBadFile);
  if (offset != 0) return handle->reads.GoOn(request, size, offset);
  const bool is_long = MayGoOn(size, piece_);
  const bool is_plain = !is_long && handle->reads.empty();
  size_t room = size;
  if (!is_plain) {
    room = handle->reads.Begin(fuse_req_ctx(request)->pid, size, piece_);
  }
  if (is_long) long_reads_.emplace(IdOf(request), LongRead{handle, size});
  Dispatch(request, *handle, [&](RequestId id) {
    handle->file->Read((info.flags & O_NONBLOCK) != 0,
                       ReadReply(*this, id, room));
  });
  if (is_plain) handle->waiters.OnRead();
}

void FuseDevices::SendData(RequestId id, Bytes head,
                           std::vector<std::byte> body) {
  const fuse_req_t request = Settle(id);
  if (!long_reads_.empty()) {
    if (const auto node = long_reads_.extract(id)) {
      const LongRead& read = node.mapped();
      return read.handle->reads.Answer(request, read.size, head,
                                       std::move(body));
    }
  }
  // Copying few bytes is cheaper than libfuse's vectors.
  std::array<std::byte, 1024> small;
  if (head.size() + body.size() <= small.size()) {
    auto end = std::copy(head.begin(), head.end(), small.begin());
    end = std::copy(body.begin(), body.end(), end);
    return ReplyData(request, Bytes(small.begin(), end));
  }
  ReplyParts(request, head, body);
}

void FuseDevices::SendNoSpace(RequestId id, size_t room, Bytes head,
                              Bytes body) {
  const fuse_req_t request = Settle(id);
  long_reads_.erase(id);
  // From now on no signal ends this request; our own PTRACE_INTERRUPT may count
  // as one.
  fuse_req_interrupt_func(request, nullptr, nullptr);
  at_worker_.insert(request);

  std::vector<std::byte> data(head.begin(), head.end());
  data.insert(data.end(), body.begin(), body.end());
  // A reply that breaks off must fit together with the byte that breaks it.
  std::vector<std::byte> fitting = data;
  fitting.resize(std::min(data.size(), room - 1));
  DeliverNoSpace(
      workers_, fuse_req_ctx(request)->pid, room, std::move(data),
      [self = self_, request, fitting = std::move(fitting)](NoSpaceAnswer how) {
        if (*self != nullptr) {
          (*self)->AnswerNoSpace(request, how, fitting);
        }
      });
}

void FuseDevices::AnswerNoSpace(fuse_req_t request, NoSpaceAnswer how,
                                Bytes data) {
  at_worker_.erase(request);
  switch (how) {
    case NoSpaceAnswer::kNoSpace:
      return ReplyError(request, Errno::kNoSpace);
    case NoSpaceAnswer::kFaultLast:
      return ReplyFaulting(request, data);
    case NoSpaceAnswer::kFault:
      return ReplyError(request, Errno::kFault);
  }
}

// By file system ids.
bool FuseDevices::IsOpener(const fuse_ctx& caller, const Handle& handle) {
  return caller.uid == handle.user && caller.gid == handle.group;
}

// Both kinds of ids: a thread may make a request with others than its own, as
// those of io_uring do.
bool FuseDevices::MayWrite(const fuse_ctx& caller, Handle& handle) {
  handle.may_be_told_opener = false;
  if (!handle.file->IsForOpenerOnly()) return true;
  if (!handle.opener || !IsOpener(caller, handle)) return false;
  const Credentials* const now = credentials_.Of(caller.pid);
  return now != nullptr && now->MayUseFileOf(*handle.opener);
}

// The supervisor opens with the file system ids of its client, but all else is
// its own.
Errno FuseDevices::SetOpener(const fuse_ctx& caller, Bytes thread,
                             Handle& handle) {
  int32_t tid = 0;
  if (thread.size() != sizeof tid) return Errno::kInvalid;
  if (!supervisor_ || (caller.uid != 0 && caller.uid != *supervisor_)) {
    return Errno::kNotPermitted;
  }
  if (!std::exchange(handle.may_be_told_opener, false)) return Errno::kBusy;
  std::memcpy(&tid, thread.data(), sizeof tid);
  const Credentials* const client = credentials_.Of(tid);
  const bool is_opener =
      client != nullptr && client->ActsAs(handle.user, handle.group);
  handle.SetOpener(is_opener ? client : nullptr);
  if (client == nullptr) return Errno::kNoProcess;
  return is_opener ? Errno::kOk : Errno::kNotPermitted;
}

void FuseDevices::Write(fuse_req_t request, Bytes data, off_t offset,
                        const fuse_file_info& info) {
  Handle* const handle = handles_.Find(info.fh);
  if (handle == nullptr) return ReplyError(request, Errno::kBadFile);
  if (!MayWrite(*fuse_req_ctx(request), *handle)) {
    return ReplyError(request, Errno::kAccess);
  }
  const pid_t caller = fuse_req_ctx(request)->pid;
  const bool nonblock = (info.flags & O_NONBLOCK) != 0;
  const LongWrites::Place place =
      handle->writes.PlaceOf(caller, offset, (info.flags & O_APPEND) != 0);
  if (place.offset != 0 || MayGoOn(data.size(), piece_) ||
      handle->writes.pending(caller)) {
    std::optional<SplitWrites::Whole> whole =
        handle->writes.Add(request, data, place, piece_);
    if (!whole) return;
    long_writes_.emplace(IdOf(request), data.size());
    return Dispatch(request, *handle, [&](RequestId id) {
      handle->file->Write(
          {whole->head, std::move(whole->body), caller, nonblock},
          WriteReply(*this, id));
    });
  }
  if (handle->file->MayBeCut(data) && IsCut(caller, data.size())) {
    return ReplyError(request, Errno::kFault);
  }
  Dispatch(request, *handle, [&](RequestId id) {
    Written written = Written::Of(data, handle->file->HeadSize(), caller);
    written.nonblock = nonblock;
    handle->file->Write(std::move(written), WriteReply(*this, id));
  });
}

void FuseDevices::SendWritten(RequestId id, size_t size) {
  if (!long_writes_.empty()) {
    if (const auto node = long_writes_.extract(id)) size = node.mapped();
  }
  fuse_reply_write(Settle(id), size);
}

void FuseDevices::Ioctl(fuse_req_t request, const IoctlRequest& ioctl,
                        const fuse_file_info& info) {
  if (ioctl.out_room == 0 || ioctl.in.empty()) {
    return RunIoctl(request, ioctl, info.fh);
  }
  at_worker_.insert(request);
  std::vector<std::byte> in(ioctl.in.begin(), ioctl.in.end());
  IoctlRequest later = ioctl;
  ProbeArgument(workers_, fuse_req_ctx(request)->pid, ioctl.argument, in,
                [self = self_, request, later, in,
                 number = info.fh](bool writable) mutable {
                  if (*self == nullptr) return;
                  (*self)->at_worker_.erase(request);
                  later.in = in;
                  later.writable = writable;
                  (*self)->RunIoctl(request, later, number);
                });
}

void FuseDevices::RunIoctl(fuse_req_t request, const IoctlRequest& ioctl,
                           uint64_t number) {
  Handle* const handle = handles_.Find(number);
  if (handle == nullptr) return ReplyError(request, Errno::kBadFile);
  const fuse_ctx& caller = *fuse_req_ctx(request);
  if (ioctl.command == kOpenedFor && handle->file->IsForOpenerOnly()) {
    const Errno result = SetOpener(caller, ioctl.in, *handle);
    fuse_reply_ioctl(request, -static_cast<int>(result), nullptr, 0);
    return;
  }
  IoctlRequest whole = ioctl;
  whole.caller = caller.pid;
  whole.user = caller.uid;
  whole.is_opener = IsOpener(caller, *handle);
  // A thread may end before its process, which costs time to find.
  whole.may_write = [self = self_, number, process = caller,
                     found = false]() mutable {
    if (*self == nullptr) return false;
    if (!std::exchange(found, true)) {
      process.pid = static_cast<pid_t>(ClientOf(process.pid));
    }
    Handle* const open = (*self)->handles_.Find(number);
    return open != nullptr && (*self)->MayWrite(process, *open);
  };
  Dispatch(request, *handle, [&](RequestId id) {
    handle->file->Ioctl(whole, IoctlReply(*this, id));
  });
}

void FuseDevices::SendIoctl(RequestId id, Errno result, Bytes out) {
  fuse_reply_ioctl(Settle(id), -static_cast<int>(result), out.data(),
                   out.size());
}

void FuseDevices::Poll(fuse_req_t request, const fuse_file_info& info,
                       fuse_pollhandle* poll) {
  Handle* const handle = handles_.Find(info.fh);
  if (handle == nullptr) {
    if (poll != nullptr) fuse_pollhandle_destroy(poll);
    return ReplyError(request, Errno::kBadFile);
  }
  fuse_reply_poll(request, handle->waiters.Ask(poll));
}

void FuseDevices::Release(fuse_req_t request, const fuse_file_info& info) {
  if (Handle* const handle = handles_.Find(info.fh); handle != nullptr) {
    handle->file->Close();
  }
  handles_.Remove(info.fh);
  ReplyError(request, Errno::kOk);
}

}  // namespace ibemu::cuse
