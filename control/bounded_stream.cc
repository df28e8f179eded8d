#include "control/bounded_stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"

namespace ibemu::control {
namespace {

// More than this many bytes are sent at once, without waiting for the end of
// the current handler.
constexpr size_t kEnough = size_t{128} << 10;

}  // namespace

absl::Status CheckStreamSocket(int fd, std::string_view method,
                               std::initializer_list<int> domains) {
  const auto option = [fd](int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
  };
  if (std::ranges::find(domains, option(SO_DOMAIN)) != domains.end() &&
      option(SO_TYPE) == SOCK_STREAM) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      Absl(method), " needs a ", domains.size() == 1 ? "unix " : "",
      "stream socket with the request"));
}

BoundedStream::BoundedStream(Loop& loop, UniqueFd socket)
    : loop_(loop), socket_(std::move(socket)) {}

BoundedStream::~BoundedStream() {
  if (socket_.valid()) loop_.Forget(socket_.get());
}

absl::Status BoundedStream::Start(absl::AnyInvocable<void()> enough,
                                  absl::AnyInvocable<void()> ended) {
  enough_ = std::move(enough);
  ended_ = std::move(ended);
  return Wait();
}

void BoundedStream::Send() {
  if (waits_for_ == Wanted::kRoom) return;
  if (buffer_.waiting() > kEnough) {
    Flush();
  } else {
    SendSoon();
  }
}

void BoundedStream::SendSoon() {
  if (waits_for_ != Wanted::kRoom) flush_.Request();
}

void BoundedStream::Finish() {
  finishing_ = true;
  if (waits_for_ != Wanted::kRoom) Flush();
}

void BoundedStream::Flush() {
  switch (buffer_.Send(socket_.get())) {
    case SendBuffer::Outcome::kAllSent:
      if (finishing_ || !Wait().ok()) End();
      return;
    case SendBuffer::Outcome::kNoRoom:
      if (!WaitForRoom().ok()) End();
      return;
    case SendBuffer::Outcome::kLost:
      return End();
  }
}

absl::Status BoundedStream::WaitForRoom() {
  if (waits_for_ == Wanted::kRoom) return absl::OkStatus();
  waits_for_ = Wanted::kRoom;
  loop_.Forget(socket_.get());
  return loop_.WatchWritable(socket_.get(), [this] { Flush(); });
}

absl::Status BoundedStream::Wait() {
  if (waits_for_ == Wanted::kWord) return absl::OkStatus();
  waits_for_ = Wanted::kWord;
  loop_.Forget(socket_.get());
  return loop_.Watch(socket_.get(), [this] { OnReadable(); });
}

void BoundedStream::OnReadable() {
  std::array<char, 64> ignored;
  const ssize_t size =
      recv(socket_.get(), ignored.data(), ignored.size(), MSG_DONTWAIT);
  if (size == 0) {
    loop_.Forget(socket_.get());
    waits_for_ = Wanted::kNothing;
    enough_();
  } else if (size < 0 && errno != EAGAIN && errno != EINTR) {
    End();
  }
}

void BoundedStream::End() {
  if (!socket_.valid()) return;
  loop_.Forget(socket_.get());
  socket_.Reset();
  buffer_.Clear();
  ended_();
}

}  // namespace ibemu::control
