#include "daemon/web/http/memory_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace ibemu::daemon {
namespace {

// Waits until there is room, at most until `deadline`.  Returns false if there
// is none then, or the other end is gone.
bool WaitForRoom(int socket, absl::Time deadline) {
  const absl::Duration left =
      std::max(deadline - absl::Now(), absl::ZeroDuration());
  pollfd room{socket, POLLOUT, 0};
  return poll(&room, 1, static_cast<int>(absl::ToInt64Milliseconds(left))) ==
             1 &&
         (room.revents & (POLLERR | POLLHUP)) == 0;
}

}  // namespace

bool MemoryStream::is_writable() const {
  return WaitForRoom(socket_, absl::Now() + absl::Seconds(kPatience));
}

ssize_t MemoryStream::read(char* bytes, size_t size) {
  const size_t copied = request_.copy(bytes, size, read_);
  read_ += copied;
  return static_cast<ssize_t>(copied);
}

ssize_t MemoryStream::write(const char* bytes, size_t size) {
  const absl::Time deadline =
      absl::Now() +
      absl::Seconds(kPatience + static_cast<double>(size) / kSlowest);
  size_t sent = 0;
  while (sent < size) {
    const ssize_t now =
        send(socket_, bytes + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (now >= 0) {
      sent += static_cast<size_t>(now);
    } else if (errno == EAGAIN) {
      if (!WaitForRoom(socket_, deadline)) return -1;
    } else if (errno != EINTR) {
      return -1;
    }
  }
  return static_cast<ssize_t>(size);
}

void MemoryStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void MemoryStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace ibemu::daemon
