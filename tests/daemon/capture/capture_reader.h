// The client's end of a capture.
#ifndef IBEMU_TESTS_DAEMON_CAPTURE_CAPTURE_READER_H_
#define IBEMU_TESTS_DAEMON_CAPTURE_CAPTURE_READER_H_

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/unique_fd.h"
#include "daemon/capture/capture_file.h"
#include "loop/epoll_loop.h"
#include "testing/socket_pair.h"

namespace ibemu::daemon {

// A CaptureReader has the loop of a capture, and reads what it sends.
struct CaptureReader {
  // Returns the daemon's end of a new stream.
  UniqueFd Open() {
    UniqueFd daemons;
    std::tie(socket, daemons) = testing::SocketPair();
    return daemons;
  }

  // Runs what is ready until nothing is.
  void Settle() {
    for (int i = 0; i < 3; ++i) {
      loop->RunAfter(absl::ZeroDuration(), [this] {
        loop->RunAfter(absl::ZeroDuration(), [this] { loop->Stop(); });
      });
      loop->Run();
    }
  }

  // Reads all that there is; returns true at the end of the stream.
  bool Read(CaptureFile& file) {
    std::vector<std::byte> bytes(1 << 20);
    while (true) {
      Settle();
      const ssize_t size =
          recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (size <= 0) return size == 0;
      EXPECT_TRUE(
          file.Add(std::span(bytes).first(static_cast<size_t>(size)), written)
              .ok());
    }
  }

  std::unique_ptr<Loop> loop = EpollLoop::Create().value();
  UniqueFd socket;
  std::vector<std::byte> written;  // the file
};

}  // namespace ibemu::daemon

#endif  // IBEMU_TESTS_DAEMON_CAPTURE_CAPTURE_READER_H_
