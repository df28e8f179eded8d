#include "daemon/remote_node/leases/message_receiver.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "base/status_macros.h"

namespace ibemu::daemon {

MessageReceiver::MessageReceiver(Loop& loop, UniqueFd socket, Take take)
    : loop_(loop), socket_(std::move(socket)), take_(std::move(take)) {}

MessageReceiver::~MessageReceiver() {
  loop_.Cancel(rest_);
  if (watched_) loop_.Forget(socket_.get());
}

absl::Status MessageReceiver::Start(
    std::function<void(const absl::Status&)> ended) {
  ended_ = std::move(ended);
  return Watch();
}

absl::Status MessageReceiver::Watch() {
  IBEMU_RETURN_IF_ERROR(
      loop_.WatchEagerly(socket_.get(), [this] { return OnReadable(); }));
  watched_ = true;
  return absl::OkStatus();
}

bool MessageReceiver::OnReadable() {
  std::array<std::byte, size_t{128} << 10> bytes;
  const ssize_t count =
      recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count <= 0) {
    End(absl::OkStatus());
    return true;
  }
  splitter_.Add(std::span(bytes).first(static_cast<size_t>(count)));
  TakeSome();
  return true;
}

void MessageReceiver::TakeSome() {
  rest_ = TimerId::kNone;
  NodeLinkSplitter::Message message;
  for (int taken = 0; taken < kMaxAtOnce; ++taken) {
    const absl::StatusOr<bool> there = splitter_.Next(message);
    if (!there.ok()) return End(there.status());
    if (!*there) {
      if (watched_) return;
      if (absl::Status again = Watch(); !again.ok()) End(again);
      return;
    }
    if (absl::Status good = take_(message); !good.ok()) return End(good);
  }
  if (std::exchange(watched_, false)) loop_.Forget(socket_.get());
  rest_ = loop_.RunAt(loop_.Now(), [this] { TakeSome(); });
}

void MessageReceiver::End(const absl::Status& why) {
  if (std::exchange(watched_, false)) loop_.Forget(socket_.get());
  const auto ended = std::move(ended_);
  ended(why);
}

}  // namespace ibemu::daemon
