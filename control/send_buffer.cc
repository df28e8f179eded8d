#include "control/send_buffer.h"

#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>

namespace ibemu::control {

SendBuffer::Outcome SendBuffer::Send(int socket) {
  Outcome outcome = Outcome::kAllSent;
  while (outcome == Outcome::kAllSent && waiting() > 0) {
    const ssize_t count = send(socket, bytes_.data() + sent_, waiting(),
                               MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      sent_ += static_cast<size_t>(count);
    } else if (errno == EAGAIN) {
      outcome = Outcome::kNoRoom;
    } else if (errno != EINTR) {
      outcome = Outcome::kLost;
      sent_ = bytes_.size();
    }
  }
  // What was sent goes when it is half of all: to move the rest to the front
  // each time would cost more than to send it, and whoever reads, but never
  // all, does not keep what it has read.
  if (sent_ >= waiting()) {
    bytes_.erase(bytes_.begin(),
                 bytes_.begin() + static_cast<std::ptrdiff_t>(sent_));
    sent_ = 0;
  }
  return outcome;
}

void SendBuffer::Clear() {
  bytes_ = {};
  sent_ = 0;
}

}  // namespace ibemu::control
