#include "loop/acceptor.h"

#include <fcntl.h>

#include <cerrno>

namespace ibemu {

Acceptor::~Acceptor() {
  loop_.Cancel(listens_again_);
  Forget();
}

absl::Status Acceptor::Start() {
  for (const int socket : listening_) {
    // Who was there when the loop woke up may have gone.
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
  }
  return Listen();
}

absl::Status Acceptor::Listen() {
  absl::Status good;
  listens_ = true;
  for (const int socket : listening_) {
    good.Update(loop_.Watch(socket, [this, socket] { OnConnection(socket); }));
  }
  if (!good.ok()) Forget();
  return good;
}

void Acceptor::Forget() {
  if (!std::exchange(listens_, false)) return;
  for (const int socket : listening_) loop_.Forget(socket);
}

void Acceptor::Pause() {
  Forget();
  loop_.Cancel(listens_again_);
  listens_again_ = loop_.RunAfter(kPause, [this] {
    if (!Listen().ok()) Pause();
  });
}

void Acceptor::OnConnection(int listening) {
  sockaddr_storage from = {};
  socklen_t size = sizeof from;
  UniqueFd socket(accept4(listening, reinterpret_cast<sockaddr*>(&from), &size,
                          SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.valid()) return take_(std::move(socket), from);
  const bool is_gone =
      errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
  if (!is_gone) Pause();
}

}  // namespace ibemu
