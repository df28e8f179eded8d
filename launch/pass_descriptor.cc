#include "launch/pass_descriptor.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace ibemu::launch {
namespace {

// One byte, for a message must have one, and room for one descriptor.
struct Message {
  Message() {
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
};

}  // namespace

absl::Status SendDescriptor(int socket, int fd) {
  Message message;
  cmsghdr* const control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(control), &fd, sizeof fd);
  return sendmsg(socket, &message.header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0
             ? absl::ErrnoToStatus(errno, "sendmsg")
             : absl::OkStatus();
}

UniqueFd ReceiveDescriptor(int socket) {
  Message message;
  if (recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC) <= 0) {
    return UniqueFd();
  }
  const cmsghdr* const control = CMSG_FIRSTHDR(&message.header);
  if (control == nullptr || control->cmsg_type != SCM_RIGHTS) return UniqueFd();
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(control), sizeof fd);
  return UniqueFd(fd);
}

}  // namespace ibemu::launch
