#include "cuse/fuse/fuse_session.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace ibemu::cuse {
namespace {

// libfuse reports each failure to standard error except for these: ENOENT (the
// request is gone), and ENODEV (the mount is gone).
ssize_t SendReply(int fd, iovec* parts, int count, void* /*user*/) {
  const ssize_t sent = writev(fd, parts, count);
  if (sent < 0) errno = ENOENT;
  return sent;
}

ssize_t ReceiveRequest(int fd, void* buffer, size_t size, void* /*user*/) {
  const ssize_t got = read(fd, buffer, size);
  if (got > 0) return got;
  const bool again =
      got < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOENT);
  if (!again) errno = ENODEV;
  return -1;
}

// Newer versions of libfuse have more members.
constexpr fuse_custom_io kIo = [] {
  fuse_custom_io io = {};
  io.writev = SendReply;
  io.read = ReceiveRequest;
  return io;
}();

// The command line of a program without arguments.
class NoArguments {
 public:
  ~NoArguments() { fuse_opt_free_args(&arguments_); }
  fuse_args* get() { return &arguments_; }

 private:
  char name_[6] = "ibemu";
  char* words_[2] = {name_, nullptr};
  fuse_args arguments_ = FUSE_ARGS_INIT(1, words_);
};

}  // namespace

absl::Status FuseSession::Start(UniqueFd fd,
                                const fuse_lowlevel_ops& operations,
                                void* user) {
  NoArguments none;
  session_ = fuse_session_new(none.get(), &operations, sizeof operations, user);
  return Attach(std::move(fd));
}

absl::Status FuseSession::Start(UniqueFd fd, const cuse_info& device,
                                const cuse_lowlevel_ops& operations,
                                void* user) {
  NoArguments none;
  session_ = cuse_lowlevel_new(none.get(), &device, &operations, user);
  return Attach(std::move(fd));
}

absl::Status FuseSession::Attach(UniqueFd fd) {
  const int flags = fcntl(fd.get(), F_GETFL);
  if (flags < 0 || fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) < 0) {
    return absl::ErrnoToStatus(errno, "FUSE descriptor");
  }
  if (session_ == nullptr) {
    return absl::ResourceExhaustedError("no further FUSE session");
  }
  if (fuse_session_custom_io(session_, &kIo, fd.get()) != 0) {
    return absl::ResourceExhaustedError("no memory for a FUSE session");
  }
  fd.Release();  // the session closes it
  return absl::OkStatus();
}

FuseSession::~FuseSession() {
  if (session_ != nullptr) fuse_session_destroy(session_);
  std::free(buffer_.mem);
}

int FuseSession::fd() const {
  return session_ == nullptr ? -1 : fuse_session_fd(session_);
}

FuseResult FuseSession::HandleOne() {
  const int got = fuse_session_receive_buf(session_, &buffer_);
  if (got == -EAGAIN || got == -EINTR) return FuseResult::kNothing;
  if (got <= 0) return FuseResult::kEnded;
  fuse_session_process_buf(session_, &buffer_);
  return fuse_session_exited(session_) != 0 ? FuseResult::kEnded
                                            : FuseResult::kHandled;
}

}  // namespace ibemu::cuse
