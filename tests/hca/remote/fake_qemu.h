// What QEMU does at its end of the sockets, for tests.
#ifndef IBEMU_TESTS_HCA_REMOTE_FAKE_QEMU_H_
#define IBEMU_TESTS_HCA_REMOTE_FAKE_QEMU_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "hca/remote/mpqemu_message.h"
#include "testing/socket_pair.h"

namespace ibemu::hca::remote {

using testing::SocketPair;

// A file as memory-backend-memfd makes it; `seals`: those of fcntl(2).
inline UniqueFd MemoryFile(size_t size,
                           int seals = F_SEAL_SHRINK | F_SEAL_GROW) {
  UniqueFd file(memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(file.get(), static_cast<off_t>(size)), 0);
  EXPECT_EQ(fcntl(file.get(), F_ADD_SEALS, seals), 0);
  return file;
}

inline UniqueFd Duplicate(const UniqueFd& file) {
  return UniqueFd(fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
}

inline void StoreWord(const UniqueFd& file, uint64_t offset, uint64_t value) {
  EXPECT_EQ(
      pwrite(file.get(), &value, sizeof value, static_cast<off_t>(offset)),
      static_cast<ssize_t>(sizeof value));
}

inline uint64_t LoadWord(const UniqueFd& file, uint64_t offset) {
  uint64_t value = 0;
  EXPECT_EQ(pread(file.get(), &value, sizeof value, static_cast<off_t>(offset)),
            static_cast<ssize_t>(sizeof value));
  return value;
}

// One message: the header's command and size, then the content.
inline std::vector<std::byte> Message(uint64_t command,
                                      std::span<const std::byte> content) {
  const std::array<uint64_t, 2> header = {command, content.size()};
  std::vector<std::byte> bytes(sizeof header + content.size());
  std::memcpy(bytes.data(), header.data(), sizeof header);
  if (!content.empty()) {
    std::memcpy(bytes.data() + sizeof header, content.data(), content.size());
  }
  return bytes;
}

template <class Word>
std::vector<std::byte> Message(uint64_t command,
                               std::initializer_list<Word> words) {
  return Message(command,
                 std::as_bytes(std::span(words.begin(), words.size())));
}

inline std::vector<std::byte> ConfigReadMessage(uint32_t offset,
                                                uint32_t size) {
  return Message<uint32_t>(3, {offset, 0, size});
}
inline std::vector<std::byte> ConfigWriteMessage(uint32_t offset, uint32_t size,
                                                 uint32_t value) {
  return Message<uint32_t>(2, {offset, value, size});
}
// The flag "memory" follows the size.
inline std::vector<std::byte> BarReadMessage(uint64_t address, uint64_t size) {
  return Message<uint64_t>(5, {address, 0, size | uint64_t{1} << 32});
}
inline std::vector<std::byte> BarWriteMessage(uint64_t address, uint64_t size,
                                              uint64_t value) {
  return Message<uint64_t>(4, {address, value, size | uint64_t{1} << 32});
}
// One region.
inline std::vector<std::byte> MemoryMessage(uint64_t address, uint64_t size,
                                            uint64_t offset) {
  std::array<uint64_t, 24> words{};
  words[0] = address;
  words[8] = size;
  words[16] = offset;
  return Message(0, std::as_bytes(std::span(words)));
}

// Sends bytes and descriptors, as sendmsg(2) does.
inline void SendTo(int socket, std::span<const std::byte> bytes,
                   std::span<const int> descriptors = {}) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(16 * sizeof(int))> control{};
  iovec data = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(),
                descriptors.size_bytes());
  }
  EXPECT_EQ(sendmsg(socket, &message, MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

// All that is there.
inline std::string ReceiveFrom(int socket) {
  std::string text(65536, '\0');
  const ssize_t size = recv(socket, text.data(), text.size(), MSG_DONTWAIT);
  text.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return text;
}

}  // namespace ibemu::hca::remote

#endif  // IBEMU_TESTS_HCA_REMOTE_FAKE_QEMU_H_
